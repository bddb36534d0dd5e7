/** Derives from the declarations the updates that overwrite a person in the warehouse. */
import { referenceDimensions } from '../contract/dimensions.ts'
import type { Column } from '../contract/fields/column.ts'
import type { Table } from '../contract/fields/table.ts'
import { groupBy } from '../lib/group-by.ts'
import { memberTables, ownerColumn, piiColumns } from '../warehouse/schema/physical.ts'
import { quoteName, quoteText } from '../warehouse/sql-text.ts'
import { declaredTables, type PersonColumn, personColumns } from './personal-fields.ts'
import type { PersonKind } from './recogniser.ts'
import { forgottenText } from './record/scrub.ts'

export interface PersonKey {
  readonly kind: PersonKind
  readonly id: string
}

/** An update: rows of a table, and new values for their columns. */
export interface Erasure {
  /** Qualified by its schema. */
  readonly table: string
  readonly set: Readonly<Record<string, string>>
  readonly where: string
}

const textTypes: readonly Column['type'][] = ['text', 'url']

function erasedValue(name: string, { type }: Column): string {
  const column = quoteName(name)
  if (type === 'json') return `case when ${column} is null then null else '"${forgottenText}"' end`
  return textTypes.includes(type)
    ? `case when ${column} is null or ${column} = '' then ${column} else '${forgottenText}' end`
    : 'null'
}

/** Selects the keys of rows, current or historical, whose column has the id. */
const rowsOf = ({ name, key }: Table, column: string, { id }: PersonKey): string =>
  ['star', 'history']
    .map(
      schema =>
        `select ${quoteName(key)} from ${schema}.${quoteName(name)} where ${quoteName(column)} = ${quoteText(id)}`,
    )
    .join(' union all ')

type DeclaredTable = (typeof declaredTables)[number]

const columnsOf = (table: Table, { kind }: PersonKey): PersonColumn[] =>
  personColumns(table).filter(column => column.kind === kind)

const subjectsOf = (table: Table, person: PersonKey): PersonColumn[] =>
  columnsOf(table, person).filter(({ isSubject }) => isSubject)

/** Conditions that find the person's rows in a table with the key and owner columns of a declared table. */
function conditions(
  { table, root }: DeclaredTable,
  person: PersonKey,
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

function piiTableErasures(declared: DeclaredTable, person: PersonKey): Erasure[] {
  const { table, root } = declared
  const personal = piiColumns(table)
  if (personal.length === 0) return []
  const names = { key: quoteName(table.key), owner: quoteName(ownerColumn(table, root)) }
  const where = conditions(declared, person, names)
  const rowErasures = where.map(condition => ({
    set: Object.fromEntries(personal.map(([name, column]) => [name, erasedValue(name, column)])),
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
        set: Object.fromEntries(set.map(([name, one]) => [name, erasedValue(name, one)])),
        where: `${names.key} in (${rowsOf(table, column, person)})`,
      },
    ]
  })
  return versions('pii', table.piiTable).flatMap(at =>
    [...rowErasures, ...described].map(one => ({ table: at, ...one })),
  )
}

const blank = { text: `repeat('x', length(text))` }

function freeTextErasures({ table, root, entity }: DeclaredTable, person: PersonKey): Erasure[] {
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

const dimensionOf = ({ kind }: PersonKey): Table | undefined => memberTables.get(kind)

/** Covers rows about the person, free text in them, and the person's attributes in other rows. */
export function erasuresOf(person: PersonKey): Erasure[] {
  const dimension = dimensionOf(person)
  const inferred = referenceDimensions
    .filter(({ name }) => name === dimension?.name)
    .map(table => ({ table, root: table, entity: person.kind }))
  const all = [...inferred, ...declaredTables].flatMap(declared => [
    ...piiTableErasures(declared, person),
    ...freeTextErasures(declared, person),
  ])
  return all
}

const differing = (set: Erasure['set']): string =>
  Object.entries(set)
    .map(
      ([name, to]) =>
        `coalesce(cast(${quoteName(name)} as varchar), '') <> coalesce(cast(${to} as varchar), '')`,
    )
    .join(' or ')

const anyOf = (conditions: readonly string[]): string => conditions.map(one => `(${one})`).join(' or ')

/** Merges erasures that set the same values. */
function withSameSet(erasures: readonly Erasure[]): Erasure[] {
  const groups = groupBy(erasures, ({ set }) => JSON.stringify(set))
  return [...groups.values()].map(([first, ...others]) => ({
    ...(first as Erasure),
    where: anyOf([first as Erasure, ...others].map(({ where }) => where)),
  }))
}

/** Merges the erasures of one table, so that each row counts once. The first erasure of a cell wins. */
function asOne(erasures: readonly Erasure[]): Erasure {
  const groups = withSameSet(erasures)
  const [only, ...others] = groups as [Erasure, ...Erasure[]]
  if (others.length === 0) return { ...only, where: `(${only.where}) and (${differing(only.set)})` }
  const columns = [...new Set(groups.flatMap(({ set }) => Object.keys(set)))]
  const set = Object.fromEntries(
    columns.map(name => {
      const cases = groups.flatMap(one =>
        name in one.set ? [`when ${one.where} then ${one.set[name]}`] : [],
      )
      return [name, `case ${cases.join(' ')} else ${quoteName(name)} end`]
    }),
  )
  return { ...only, set, where: `(${anyOf(groups.map(({ where }) => where))}) and (${differing(set)})` }
}

const nameOf = ({ table }: Erasure): string => table.replaceAll('"', '')

/** One erasure a table, which updates only rows that change. */
export const byTable = (erasures: readonly Erasure[]): Erasure[] =>
  [...groupBy(erasures, nameOf).values()].map(asOne)
