/** Declares tables of the star, and lists inside a record that become child tables. */
import type { Column, FieldLeaf, FieldPath } from './column.ts'
import { fullDescription, nounOf, roleText } from './nouns.ts'
import type { ListLeaf, RecordOf } from './record-of.ts'

export interface Table<Row = unknown> {
  /** For the compiler only: the JSON that a row is made of. */
  readonly row?: Row
  /** Name in star, e.g. fact_timesheet. */
  readonly name: string
  /** Name of its PII table, in the schema pii, which holds the personal and restricted columns. */
  readonly piiTable: string
  /** First sentence: the grain. */
  readonly description: string
  /** The one column that identifies a row. */
  readonly key: string
  readonly columns: Readonly<Record<string, Column>>
  readonly children: readonly ChildTable[]
  /** Its rows are people: a row of another table with its key is about a person. */
  readonly isOfPeople?: true
  /** Its rows are organisations. A record may name one as the user who acted, so their names do not identify persons. */
  readonly isOfOrganisations?: true
}

/**
 * How elements become rows: the JSON objects of a list, its plain values, a single object, or one row
 * per leaf of a JSON document.
 */
export type ElementShape = 'object' | 'value' | 'single' | 'leaves'

export interface ChildTable {
  /** One segment per nested list: ['groups', 'items'] stands for every item of every group. */
  readonly lists: readonly [FieldPath, ...FieldPath[]]
  readonly shape: ElementShape
  readonly table: Table
}

/** A list in a resource file, declared between the columns. */
export interface ChildDeclaration<Read extends FieldLeaf = FieldLeaf> {
  /** For the compiler only, as of a column. */
  readonly reads?: Read
  readonly child: ChildTable
}

type Declarations = Readonly<Record<string, Column | ChildDeclaration>>

function isChild(entry: Column | ChildDeclaration): entry is ChildDeclaration {
  return 'child' in entry
}

function table<D extends Declarations>(
  name: string,
  description: string,
  declarations: D,
): Table<RecordOf<D>> {
  const columns = Object.entries(declarations).filter(
    (entry): entry is [string, Column] => !isChild(entry[1]),
  )
  const first = columns[0]
  if (!first) throw new Error(`${name} declares no column`)
  return {
    name,
    piiTable: name.replace(/^(dim|fact|bridge)_/, ''),
    description,
    key: first[0],
    columns: Object.fromEntries(
      columns.map(([field, column]) => [
        field,
        { ...column, description: roleText(field, fullDescription(column.description, nounOf(name))) },
      ]),
    ),
    children: Object.values(declarations).flatMap(entry => (isChild(entry) ? [entry.child] : [])),
  }
}

/** The first column declared is the key. */
export const fact = <const D extends Declarations>(name: string, description: string, declarations: D) =>
  table(`fact_${name}`, description, declarations)
export const dimension = <const D extends Declarations>(name: string, description: string, declarations: D) =>
  table(`dim_${name}`, description, declarations)
export const bridge = <const D extends Declarations>(name: string, description: string, declarations: D) =>
  table(`bridge_${name}`, description, declarations)

export const ofPeople = <Any extends Table>(table: Any): Any => ({ ...table, isOfPeople: true })
export const ofOrganisations = <Any extends Table>(table: Any): Any => ({ ...table, isOfOrganisations: true })

function child<Read extends FieldLeaf>(
  path: string,
  shape: ElementShape,
  rows: Table,
): ChildDeclaration<Read> {
  const [first = '', ...deeper] = path.split('[].')
  const lists = [first.split('.'), ...deeper.map(segment => segment.split('.'))] as const
  return { child: { lists, shape, table: rows } }
}

/** One row per object of a list; `a[].b` is a list inside a list. */
export const each = <const At extends string, Row>(path: At, rows: Table<Row>) =>
  child<ListLeaf<At, Row>>(path, 'object', rows)
/** One row per plain value of a list; the value's own path is ''. */
export const eachValue = <const At extends string>(path: At, rows: Table) =>
  child<ListLeaf<At, string>>(path, 'value', rows)
/** At most one row, from an object that has the shape of a list's elements. */
export const only = <const At extends string, Row>(path: At, rows: Table<Row>) =>
  child<FieldLeaf<At, Row>>(path, 'single', rows)
/** One row per leaf of a JSON document whose keys are data. */
export const eachLeaf = <const At extends string>(path: At, rows: Table) =>
  child<FieldLeaf<At, unknown>>(path, 'leaves', rows)

/** This table and all below it, parents first. */
export function tablesOf(root: Table): Table[] {
  return [root, ...root.children.flatMap(entry => tablesOf(entry.table))]
}
