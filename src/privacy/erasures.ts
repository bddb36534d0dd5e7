/** What the warehouse holds of a person, as statements that overwrite it: derived from the declarations. */
import { referenceDimensions } from '../contract/dimensions.ts'
import type { Column } from '../contract/fields/column.ts'
import type { Table } from '../contract/fields/table.ts'
import { memberTables, ownerColumn, piiColumns } from '../warehouse/schema/physical.ts'
import { quoteName, quoteText } from '../warehouse/sql-text.ts'
import { declaredTables, type PersonColumn, personColumns } from './personal-fields.ts'
import type { PersonKind } from './recogniser.ts'
import { forgottenText } from './scrub.ts'

export interface Person {
  readonly kind: PersonKind
  readonly id: string
}

/** Rows of a table and what their columns become. */
export interface Erasure {
  /** With its schema. */
  readonly table: string
  readonly set: Readonly<Record<string, string>>
  readonly where: string
}

const textTypes: readonly Column['type'][] = ['text', 'url']

function emptied(name: string, { type }: Column): string {
  const column = quoteName(name)
  if (type === 'json') return `case when ${column} is null then null else '"${forgottenText}"' end`
  return textTypes.includes(type)
    ? `case when ${column} is null or ${column} = '' then ${column} else '${forgottenText}' end`
    : 'null'
}

/** Keys of rows of star, now or before, in which the column has the id. */
const rowsOf = ({ name, key }: Table, column: string, { id }: Person): string =>
  ['star', 'history']
    .map(
      schema =>
        `select ${quoteName(key)} from ${schema}.${quoteName(name)} where ${quoteName(column)} = ${quoteText(id)}`,
    )
    .join(' union all ')

type Declared = (typeof declaredTables)[number]

const columnsOf = (table: Table, { kind }: Person): PersonColumn[] =>
  personColumns(table).filter(column => column.kind === kind)

const subjectsOf = (table: Table, person: Person): PersonColumn[] =>
  columnsOf(table, person).filter(({ isSubject }) => isSubject)

/** Conditions on a table that has the key, and the owner, of the rows of a declared table. */
function conditions(
  { table, root }: Declared,
  person: Person,
  names: { key: string; owner: string },
): string[] {
  const own = subjectsOf(table, person).map(
    ({ column }) => `${names.key} in (${rowsOf(table, column, person)})`,
  )
  const above =
    table === root
      ? []
      : subjectsOf(root, person).map(({ column }) => `${names.owner} in (${rowsOf(root, column, person)})`)
  return [...own, ...above]
}

const versions = (schema: 'pii' | 'star', name: string): string[] =>
  schema === 'pii'
    ? [`pii.${quoteName(name)}`, `pii.${quoteName(`${name}_history`)}`]
    : [`star.${name}`, `history.${name}`]

function ofPiiTable(declared: Declared, person: Person): Erasure[] {
  const { table, root } = declared
  const personal = piiColumns(table)
  if (personal.length === 0) return []
  const names = { key: quoteName(table.key), owner: quoteName(ownerColumn(table, root)) }
  const where = conditions(declared, person, names)
  const whole = where.map(condition => ({
    set: Object.fromEntries(personal.map(([name, column]) => [name, emptied(name, column)])),
    where: condition,
  }))
  const described = columnsOf(table, person).flatMap(({ column, attributes }) => {
    const paths = new Set(attributes.map(path => path.join('.')))
    const set = personal.filter(
      ([, { source }]) => source.from === 'field' && paths.has(source.path.join('.')),
    )
    if (set.length === 0) return []
    return [
      {
        set: Object.fromEntries(set.map(([name, one]) => [name, emptied(name, one)])),
        where: `${names.key} in (${rowsOf(table, column, person)})`,
      },
    ]
  })
  return versions('pii', table.piiTable).flatMap(at =>
    [...whole, ...described].map(one => ({ table: at, ...one })),
  )
}

const blank = { text: `repeat('x', length(text))` }

function ofWords({ table, root, entity }: Declared, person: Person): Erasure[] {
  const own = subjectsOf(table, person).map(
    ({ column }) => `table_name = ${quoteText(table.name)} and row_key in (${rowsOf(table, column, person)})`,
  )
  const records =
    table === root
      ? subjectsOf(root, person).map(
          ({ column }) => `entity = ${quoteText(entity)} and record_id in (${rowsOf(root, column, person)})`,
        )
      : []
  return versions('pii', 'text').flatMap(at =>
    [...own, ...records].map(where => ({ table: at, set: blank, where })),
  )
}

function ofLeaves({ table, root, entity }: Declared, person: Person): Erasure[] {
  if (table !== root) return []
  return subjectsOf(root, person).flatMap(({ column }) =>
    [...versions('star', 'attribute_leaf'), ...versions('pii', 'attribute_leaf')].map(at => ({
      table: at,
      set: { value_text: `'${forgottenText}'` },
      where: `value_type in ('text', 'json') and entity = ${quoteText(entity)}
        and record_id in (${rowsOf(root, column, person)})`,
    })),
  )
}

const dimensionOf = ({ kind }: Person): Table | undefined => memberTables.get(kind)

/** All of them: rows about the person, words in such rows, and the names that other rows give. */
export function erasuresOf(person: Person): Erasure[] {
  const dimension = dimensionOf(person)
  const inferred = referenceDimensions
    .filter(({ name }) => name === dimension?.name)
    .map(table => ({ table, root: table, entity: person.kind }))
  const all = [...inferred, ...declaredTables].flatMap(declared => [
    ...ofPiiTable(declared, person),
    ...ofWords(declared, person),
    ...ofLeaves(declared, person),
  ])
  return joined(all)
}

/** One statement for the same columns of a table, so that each row counts once. */
function joined(erasures: readonly Erasure[]): Erasure[] {
  const groups = new Map<string, Erasure>()
  for (const one of erasures) {
    const group = JSON.stringify([one.table, one.set])
    const known = groups.get(group)
    groups.set(
      group,
      known ? { ...known, where: `${known.where} or (${one.where})` } : { ...one, where: `(${one.where})` },
    )
  }
  return [...groups.values()]
}

/** Only rows that hold something yet. */
export const heldRows = ({ set, where }: Erasure): string =>
  `(${where}) and (${Object.entries(set)
    .map(
      ([name, to]) =>
        `coalesce(cast(${quoteName(name)} as varchar), '') <> coalesce(cast(${to} as varchar), '')`,
    )
    .join(' or ')})`
