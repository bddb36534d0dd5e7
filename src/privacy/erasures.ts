/** What the warehouse holds of a person, as statements that overwrite it: derived from the declarations. */
import { referenceDimensions } from '../contract/dimensions.ts'
import type { Column } from '../contract/fields/column.ts'
import type { Table } from '../contract/fields/table.ts'
import { memberTables, ownerColumn, piiColumns } from '../warehouse/schema/physical.ts'
import { quoteName, quoteText } from '../warehouse/sql-text.ts'
import { declaredTables, type PersonColumn, personColumns } from './personal-fields.ts'
import type { PersonKind } from './recogniser.ts'
import { forgottenText } from './record/scrub.ts'

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

const dimensionOf = ({ kind }: Person): Table | undefined => memberTables.get(kind)

/** By the declarations: rows about the person, words in such rows, and the names that other rows give. */
export function erasuresOf(person: Person): Erasure[] {
  const dimension = dimensionOf(person)
  const inferred = referenceDimensions
    .filter(({ name }) => name === dimension?.name)
    .map(table => ({ table, root: table, entity: person.kind }))
  const all = [...inferred, ...declaredTables].flatMap(declared => [
    ...ofPiiTable(declared, person),
    ...ofWords(declared, person),
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

function grouped(erasures: readonly Erasure[], groupOf: (one: Erasure) => string): Map<string, Erasure[]> {
  const groups = new Map<string, Erasure[]>()
  for (const one of erasures) groups.set(groupOf(one), [...(groups.get(groupOf(one)) ?? []), one])
  return groups
}

/** Those that set the same, as one. */
function withSameSet(erasures: readonly Erasure[]): Erasure[] {
  const groups = grouped(erasures, ({ set }) => JSON.stringify(set))
  return [...groups.values()].map(([first, ...others]) => ({
    ...(first as Erasure),
    where: anyOf([first as Erasure, ...others].map(({ where }) => where)),
  }))
}

/** Several erasures of one table as one, so that each row counts once; of two for the same cell the first holds. */
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

/** One a table; each updates only rows that change. */
export const byTable = (erasures: readonly Erasure[]): Erasure[] =>
  [...grouped(erasures, nameOf).values()].map(asOne)
