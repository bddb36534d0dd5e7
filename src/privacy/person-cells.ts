/** Finds the names, addresses and numbers of a person, and every other cell of the warehouse that contains one. */

import { recordedMarts } from '../state/marts/marts.ts'
import { keyColumns } from '../warehouse/catalogue.ts'
import type { DescribedColumn, Engine } from '../warehouse/engine.ts'
import { memberTables, piiColumns } from '../warehouse/schema/physical.ts'
import { schemaNames } from '../warehouse/schema/schemas.ts'
import { quoteName, quoteText } from '../warehouse/sql-text.ts'
import type { Erasure, PersonKey } from './erasures.ts'
import { identifierOf, wordsOf } from './identifiers.ts'
import { declaredTables } from './personal-fields.ts'
import { personKinds, type Recogniser } from './recogniser.ts'
import { isDocument } from './record/json-tree.ts'
import { blanked, forgottenText } from './record/scrub.ts'
import { scrubRecord } from './record/scrub-page.ts'

/** The person's identifying values, normalised, from all stored versions. */
export async function valuesOf(engine: Engine, { kind, id }: PersonKey): Promise<ReadonlySet<string>> {
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
        const normal = value === null ? undefined : identifierOf(value)?.normal
        if (normal !== undefined) found.add(normal)
      }
    }
  return found
}

/** Uses a wildcard for characters that are special to LIKE, or whose lower case depends on the server's locale. */
const pattern = (text: string): string => quoteText(`%${text.replace(/[^\x20-\x7e]|[%_\\]/gu, '_')}%`)

/** SQL condition that excludes most cells without one of these values. */
export function cellFilter(column: string, normals: ReadonlySet<string>): string {
  const digits = `regexp_replace(${column}, '[^0-9]', '', 'g')`
  const parts = [...normals].map(normal => {
    if (/^\d+$/.test(normal)) return `${digits} like ${quoteText(`%${normal}%`)}`
    if (normal.includes('@')) return `lower(${column}) like ${pattern(normal)}`
    const [longest = ''] = wordsOf(normal)
      .split(' ')
      .sort((one, other) => other.length - one.length)
    return `lower(${column}) like ${pattern(longest)}`
  })
  // Accents are compared outside SQL, so every cell beyond ASCII passes: an accented letter may be one character or two.
  const isBeyondAscii = `bit_length(${column}) <> 8 * length(${column})`
  return parts.length === 0 ? 'false' : `(${[...parts, isBeyondAscii].join(' or ')})`
}

/** SQL condition that excludes PII rows of another person with the same name, by the id in star. */
function namesakes(table: string, column: string, { id }: PersonKey): string {
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

/** Skips tables of people, except contacts, who have no id that distinguishes them. */
const isSearched = (schema: string, table: string, marts: ReadonlyMap<string, unknown>): boolean => {
  const name = table.replace(/_history$/, '')
  if (schema === 'pii') return name === 'contact' || !people.has(name)
  if (schema === 'ops') return !['forgotten', 'forgotten_value'].includes(name)
  // Other programs may have tables in the schema of the marts.
  return schema !== 'mart' || marts.has(name)
}

const isLeaf = (table: string, column: string): boolean =>
  /^attribute_leaf(_history)?$/.test(table) && column !== 'path'

const isText = ({ type }: DescribedColumn): boolean => /^(varchar|text|character varying)/i.test(type)

/** SQL condition for a JSON document that contains the person's id; leaves have their own search. */
const mayBeDocument = (column: string, id: string): string =>
  `(${column} like '{%' or ${column} like '[%') and strpos(${column}, ${quoteText(id)}) > 0`

export interface SoughtPerson {
  readonly person: PersonKey
  readonly recogniser: Recogniser
  /** Builds an SQL condition that excludes most cells without one of the values. */
  readonly cellFilter: (column: string) => string
  /** Hashes a text, to keep values distinct in a column that must be unique. */
  readonly hashOf: (text: string) => string
}

/** The text without the person; unchanged if the person is not in it. */
function textWithout(text: string, isKey: boolean, { recogniser, hashOf }: SoughtPerson): string {
  if (isDocument(text)) return scrubRecord(Buffer.from(text), recogniser, undefined).toString()
  if (!recogniser.recognises(text)) return text
  if (isKey) return `${forgottenText} ${hashOf(text).slice(0, 8)}`
  return text.length > 40 ? blanked(text) : forgottenText
}

/** Overwrites cells of star, marts, PII tables and the ledger, in all versions: those with a value, or with the id in a document. */
export async function cellErasures(engine: Engine, sought: SoughtPerson): Promise<Erasure[]> {
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
       where (${sought.cellFilter(at)} or ${mayBeDocument(at, person.id)}) and ${where}`,
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
