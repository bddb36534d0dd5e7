/** A table of the star and the lists inside a record that become tables of their own. */
import type { Column, Path } from './column.ts'

export interface Table {
  /** Name in star, e.g. fact_timesheet. */
  readonly name: string
  /** Name of its twin in pii, which holds the columns that are not open. */
  readonly twin: string
  /** First sentence: the grain. */
  readonly description: string
  /** The one column that identifies a row. */
  readonly key: string
  readonly columns: Readonly<Record<string, Column>>
  readonly children: readonly Child[]
}

/**
 * How elements become rows: the JSON objects of a list, its plain values, one object that stands alone, or one row
 * per leaf of a JSON document.
 */
export type ElementShape = 'object' | 'value' | 'single' | 'leaves'

export interface Child {
  /** One segment per nested list: ['groups', 'items'] walks every item of every group. */
  readonly lists: readonly Path[]
  readonly shape: ElementShape
  readonly table: Table
}

/** What stands for a list in a resource file, between the columns. */
export interface ChildDeclaration {
  readonly child: Child
}

type Declarations = Readonly<Record<string, Column | ChildDeclaration>>

function isChild(entry: Column | ChildDeclaration): entry is ChildDeclaration {
  return 'child' in entry
}

function table(name: string, description: string, declarations: Declarations): Table {
  const columns = Object.entries(declarations).filter(
    (entry): entry is [string, Column] => !isChild(entry[1]),
  )
  const first = columns[0]
  if (!first) throw new Error(`${name} declares no column`)
  return {
    name,
    twin: name.replace(/^(dim|fact|bridge)_/, ''),
    description,
    key: first[0],
    columns: Object.fromEntries(columns),
    children: Object.values(declarations).flatMap(entry => (isChild(entry) ? [entry.child] : [])),
  }
}

/** The first column declared is the key. */
export const fact = (name: string, description: string, declarations: Declarations): Table =>
  table(`fact_${name}`, description, declarations)
export const dimension = (name: string, description: string, declarations: Declarations): Table =>
  table(`dim_${name}`, description, declarations)
export const bridge = (name: string, description: string, declarations: Declarations): Table =>
  table(`bridge_${name}`, description, declarations)

function child(path: string, shape: ElementShape, rows: Table): ChildDeclaration {
  const lists = path.split('[].').map(segment => segment.split('.'))
  return { child: { lists, shape, table: rows } }
}

/** One row per object of a list; `a[].b` walks a list inside a list. */
export const each = (path: string, rows: Table): ChildDeclaration => child(path, 'object', rows)
/** One row per plain value of a list; the value's own path is ''. */
export const eachValue = (path: string, rows: Table): ChildDeclaration => child(path, 'value', rows)
/** At most one row, from an object that has the shape of a list's elements. */
export const only = (path: string, rows: Table): ChildDeclaration => child(path, 'single', rows)
/** One row per leaf of a JSON document whose keys are data. */
export const eachLeaf = (path: string, rows: Table): ChildDeclaration => child(path, 'leaves', rows)

/** This table and all below it, parents first. */
export function tablesOf(root: Table): Table[] {
  return [root, ...root.children.flatMap(entry => tablesOf(entry.table))]
}
