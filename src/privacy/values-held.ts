/** The names, addresses and numbers of a person, and every other cell of the warehouse that has one. */

import { recordedMarts } from '../state/marts/marts.ts'
import type { DescribedColumn, Engine } from '../warehouse/engine.ts'
import { memberTables, piiColumns } from '../warehouse/schema/physical.ts'
import { schemaNames } from '../warehouse/schema/schemas.ts'
import { quoteName, quoteText } from '../warehouse/sql-text.ts'
import type { Erasure, Person } from './erasures.ts'
import { declaredTables } from './personal-fields.ts'
import { personKinds, type Recogniser } from './recogniser.ts'
import { isDocument } from './record/json-tree.ts'
import { blanked, forgottenText } from './record/scrub.ts'
import { scrubRecord } from './record/scrub-page.ts'
import { telling, wordsOf } from './telling.ts'

/** Normalised; of all versions that the warehouse has of the person. */
export async function valuesOf(engine: Engine, { kind, id }: Person): Promise<ReadonlySet<string>> {
  const table = memberTables.get(kind)
  const found = new Set<string>()
  if (!table) return found
  for (const [name] of piiColumns(table))
    for (const at of [table.piiTable, `${table.piiTable}_history`]) {
      const rows = await engine.rows<{ value: string | null }>(
        `select distinct cast(${quoteName(name)} as varchar) as value from pii.${quoteName(at)}
         where ${quoteName(table.key)} = ${quoteText(id)}`,
      )
      for (const { value } of rows) {
        const normal = value === null ? undefined : telling(value)?.normal
        if (normal !== undefined) found.add(normal)
      }
    }
  return found
}

/** Any character stands for those that LIKE, or the lower case of the server's locale, may take for others. */
const pattern = (text: string): string => quoteText(`%${text.replace(/[^\x20-\x7e]|[%_\\]/gu, '_')}%`)

/** SQL that leaves out most cells without one of these values. */
export function mayHold(column: string, normals: ReadonlySet<string>): string {
  const digits = `regexp_replace(${column}, '[^0-9]', '', 'g')`
  const parts = [...normals].map(normal => {
    if (/^\d+$/.test(normal)) return `${digits} like ${quoteText(`%${normal}%`)}`
    if (normal.includes('@')) return `lower(${column}) like ${pattern(normal)}`
    const [longest = ''] = wordsOf(normal)
      .split(' ')
      .sort((one, other) => other.length - one.length)
    return `lower(${column}) like ${pattern(longest)}`
  })
  // Accents are compared outside of SQL: any letter may carry one, be it one character with it or two.
  const isBeyondAscii = `bit_length(${column}) <> 8 * length(${column})`
  return parts.length === 0 ? 'false' : `(${[...parts, isBeyondAscii].join(' or ')})`
}

/** Rows of a PII table whose name belongs to another person, by the id beside it in star. */
function namesakes(table: string, column: string, { id }: Person): string {
  const found = declaredTables.find(one => `pii.${one.table.piiTable}` === table.replace(/_history$/, ''))
  const path = found?.table.columns[column]?.source
  if (!found || path?.from !== 'field') return 'true'
  const beside = Object.entries(found.table.columns).find(([, { member }]) =>
    Object.values(member?.attributes ?? {}).some(
      source => source.from === 'field' && source.path.join('.') === path.path.join('.'),
    ),
  )
  if (!beside || !personKinds.some(kind => kind === beside[1].member?.dimension)) return 'true'
  const { name, key } = found.table
  return `${quoteName(key)} not in (select ${quoteName(key)} from star.${quoteName(name)}
    where ${quoteName(beside[0])} not in (${quoteText(id)}, '-1'))`
}

const people = new Set([...memberTables.values()].flatMap(one => (one.isOfPeople ? [one.piiTable] : [])))

/** Tables of people are left out, except contacts, who have no id to be told apart by. */
const isSearched = (schema: string, table: string, marts: ReadonlyMap<string, unknown>): boolean => {
  const name = table.replace(/_history$/, '')
  if (schema === 'pii') return name === 'contact' || !people.has(name)
  if (schema === 'ops') return !['forgotten', 'forgotten_value'].includes(name)
  // The schema of the marts may hold tables of somebody else.
  return schema !== 'mart' || marts.has(name)
}

const isLeaf = (table: string, column: string): boolean =>
  /^attribute_leaf(_history)?$/.test(table) && column !== 'path'

/** Columns of primary keys, as `schema.table.column`; none in a file, which keeps no keys. */
async function keyColumns(engine: Engine): Promise<ReadonlySet<string>> {
  const rows = await engine.rows<{ place: string }>(
    `select table_schema || '.' || table_name || '.' || column_name as place from information_schema.key_column_usage`,
  )
  return new Set(rows.map(({ place }) => place))
}

const isText = ({ type }: DescribedColumn): boolean => /^(varchar|text|character varying)/i.test(type)

/** A document that names the person by the id; leaves have their own search. */
const mayBeDocument = (column: string, id: string): string =>
  `(${column} like '{%' or ${column} like '[%') and strpos(${column}, ${quoteText(id)}) > 0`

export interface Sought {
  readonly person: Person
  readonly recogniser: Recogniser
  /** SQL that leaves out most cells without one of the values. */
  readonly mayHold: (column: string) => string
  /** The same for the same text, in a column that may not have a text twice. */
  readonly hashOf: (text: string) => string
}

/** What the text becomes; itself when it says nothing of the person. */
function textWithout(text: string, isKey: boolean, { recogniser, hashOf }: Sought): string {
  if (isDocument(text)) return scrubRecord(Buffer.from(text), recogniser, undefined).toString()
  if (!recogniser.tells(text)) return text
  if (isKey) return `${forgottenText} ${hashOf(text).slice(0, 8)}`
  return text.length > 40 ? blanked(text) : forgottenText
}

/** Cells of star, marts, PII tables and the ledger, in all versions, that have one of the values, or the id in a document. */
export async function cellErasures(engine: Engine, sought: Sought): Promise<Erasure[]> {
  const { person } = sought
  const plain = new Map(schemaNames.map(name => [engine.schema(name) as string, name]))
  const [marts, keys] = [await recordedMarts(engine), await keyColumns(engine)]
  const found: Erasure[] = []
  for (const described of await engine.describedColumns([...plain.keys()])) {
    const schema = plain.get(described.schema) ?? ''
    const { table: name, column } = described
    if (!isText(described) || !isSearched(schema, name, marts) || /(_id|_key|_hash|hash)$/.test(column))
      continue
    if (isLeaf(name, column) || (name === 'quarantine' && column === 'payload')) continue
    const [table, at] = [`${schema}.${quoteName(name)}`, quoteName(column)]
    const where = schema === 'pii' ? namesakes(`pii.${name}`, column, person) : 'true'
    const rows = await engine.rows<{ text: string }>(
      `select distinct ${at} as text from ${table}
       where (${sought.mayHold(at)} or ${mayBeDocument(at, person.id)}) and ${where}`,
    )
    const isKey = keys.has(`${described.schema}.${name}.${column}`)
    const texts = new Map<string, string[]>()
    for (const { text } of rows) {
      const rest = textWithout(text, isKey, sought)
      if (rest !== text) texts.set(rest, [...(texts.get(rest) ?? []), quoteText(text)])
    }
    for (const [rest, some] of texts)
      found.push({
        table,
        set: { [column]: quoteText(rest) },
        where: `${at} in (${some.join(', ')}) and ${where}`,
      })
  }
  return found
}
