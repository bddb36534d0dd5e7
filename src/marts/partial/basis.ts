/** What all rows of a mart depend on: while it stays the same, changed records tell which of them may differ. */
import { createHash } from 'node:crypto'
import { ledgerStates, touchState, wholeState } from '../../state/marts/source-state.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { physicalTables, rowColumns } from '../../warehouse/schema/physical.ts'
import { quoteName } from '../../warehouse/sql-text.ts'
import { fillTokens, type Moment, momentOf, readsBookkeeping } from '../inputs.ts'
import { type Mart, martsRead } from '../mart.ts'
import { followed } from './followed.ts'
import type { Parts } from './parts.ts'

const declared = new Map(
  physicalTables.map(({ schema, name, columns }) => [`${schema}.${name}`, columns.map(one => one.name)]),
)

/** They move with each reading; nobody reads them with all others in mind. */
const fetched = new Set(rowColumns.map(({ name }) => name))

/** The values of a row that the statement may read: names of columns that it does not have make no difference. */
function rowText(table: string, select: string): string {
  const columns = declared.get(table)
  if (columns === undefined) return 'cast(one as text)'
  const words = new Set(select.match(/\w+/g))
  const areAllRead = select.includes('.*')
  const read = columns.filter(name => words.has(name) || (areAllRead && !fetched.has(name)))
  const values = read.map(name => `coalesce(cast(one.${quoteName(name)} as text), '~')`)
  return values.length === 0 ? `'row'` : `concat_ws('|', ${values.join(', ')})`
}

/** Stays the same as long as a table does, on one engine. */
async function fingerprint(engine: Engine, table: string, select: string): Promise<string> {
  const [row] = await engine.rows<{ n: number; hash: string }>(
    `select count(*) as n, md5(coalesce(string_agg(line, '' order by line), '')) as hash
     from (select md5(${rowText(table, select)}) as line from ${table} as one) as lines`,
  )
  return `${table} ${row?.n} ${row?.hash.slice(0, 12)}`
}

/** The rows that the day or the last reading decides are among the touched ones of a mart that has parts. */
const momentText = (select: string, parts: Parts | undefined): string =>
  parts ? select.replace(/(?<!:):(as_of|today|read_day)\b/g, '') : select

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12)

export interface BasisOptions {
  readonly version: string
  readonly moment: Moment
  /** When another mart was last built. */
  readonly builtAt: (name: string) => string | null
}

export async function basisOf(
  engine: Engine,
  mart: Mart,
  { version, moment, builtAt }: BasisOptions,
): Promise<string> {
  const { parts } = mart
  const own: string[] = []
  for (const table of followed(mart).dimensions) own.push(await fingerprint(engine, table, mart.select))
  if (parts?.basis !== undefined) own.push(JSON.stringify(await engine.rows(fillTokens(parts.basis, moment))))
  return digest(
    [
      version,
      await wholeState(engine),
      momentOf(momentText(mart.select, parts), moment),
      parts?.touched ?? '',
      readsBookkeeping(mart) ? await touchState(engine) : '',
      ...martsRead(mart).map(name => `${name} ${builtAt(name)}`),
      ...(await ledgerStates(engine, mart.reads)),
      ...own,
    ].join('; '),
  )
}
