/**
 * A scan of changes that finds nothing new: its answers have the very bytes that the scan before it read, compared with what
 * was stored, and loaded. They are not staged and compared a second time.
 */
import { createHash } from 'node:crypto'
import { rowsOfPage } from '../../api/client/envelope.ts'
import { isId } from '../../contract/fields/record-id.ts'
import type { Resource } from '../../contract/fields/resource.ts'
import { programVersion } from '../../lib/package.ts'
import { type RecordLimits, usualLimits } from '../../load/page/record-limits.ts'
import { openCases } from '../../state/evidence/evidence.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { liveRecords, recordKey } from '../../warehouse/schema/record-rows.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import type { Known } from '../paging/pass-state.ts'
import type { Progress } from '../paging/scan.ts'
import { SeenRows } from '../paging/seen-rows.ts'

/** Of the rows of so many pages digests are kept; a scan of changes rarely has more than one. */
const mostPages = 10

/** A row of the list, with the times by which it counts for a scan: milliseconds since the epoch. */
export interface Row {
  readonly id: string
  readonly changedAt: number
  readonly existedAt: number
}

/** Another version of the program, or other limits, may load the same bytes differently. Undefined for odd envelopes. */
export function digestOf(bytes: Buffer, limits: RecordLimits = usualLimits): string | undefined {
  const rows = rowsOfPage(bytes)
  if (!rows) return undefined
  const hash = createHash('sha256').update(`${programVersion} ${JSON.stringify(limits)}\n`)
  return hash.update(rows).digest('hex')
}

/** As `ops.watermark` keeps them; null when there are none, or more than are worth keeping. */
export const digestsText = (digests: readonly (string | undefined)[]): string | null =>
  digests.length === 0 || digests.length > mostPages || digests.includes(undefined) ? null : digests.join(' ')

export const digestsIn = (text: string | null): ReadonlySet<string> =>
  new Set(text?.split(' ').filter(Boolean))

/** What the engines read from such a text is what JavaScript reads, to the millisecond. */
const plainTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/

const timeOf = (text: unknown): number =>
  typeof text === 'string' && plainTime.test(text) ? Date.parse(text) : Number.NaN

function rowOf(record: unknown, updatedAt: string): Row | undefined {
  const { id, createdAt, ...fields } = Object(record) as Record<string, unknown>
  const changedAt = timeOf(fields[updatedAt])
  const created = createdAt == null ? changedAt : timeOf(createdAt)
  const existedAt = Math.min(changedAt, created)
  if (typeof id !== 'string' || !isId(id) || Number.isNaN(existedAt)) return undefined
  return { id, changedAt, existedAt }
}

/** Undefined when one of the records has no plain id or times: how those count is told by a load. */
export function rowsOf(records: readonly unknown[], updatedAt: string): readonly Row[] | undefined {
  const rows = records.map(record => rowOf(record, updatedAt))
  return rows.some(row => row === undefined) ? undefined : (rows as Row[])
}

interface SamePage {
  readonly pass: number
  readonly isFront: boolean
  /** Rows that are byte for byte those of the scan before; undefined where they are not. */
  readonly same?: readonly Row[] | undefined
}

type KnownPage = SamePage & { readonly same: readonly Row[] }

/** Whether these pages are a whole scan, of one pass, and each has the rows of the scan before. */
export function isWholeScan<Page extends SamePage>(
  { pass, attempt, sequence }: Progress,
  pages: readonly Page[],
): pages is readonly (Page & KnownPage)[] {
  const isWhole = pass.nextPage === 0 && attempt === 1 && sequence === pages.length
  return isWhole && pages.every(({ same }) => same !== undefined)
}

interface Counted {
  readonly known?: Known | undefined
  readonly isFiltered?: boolean | undefined
}

/**
 * The rows that count. Below its end a scan of changes counts only what changed since. A record may have existed long before its
 * change brought it into a filtered list.
 */
export function seenOf(
  pages: readonly KnownPage[],
  { pass }: Progress,
  { known, isFiltered }: Counted,
): SeenRows {
  const since = pass.below > 0 && known ? known.before : Number.NEGATIVE_INFINITY
  const seen = new SeenRows()
  for (const { same, ...page } of pages)
    for (const { id, changedAt, existedAt } of same)
      if (changedAt >= since) seen.add(id, page, isFiltered ? changedAt : existedAt)
  return seen
}

/** What is to be decided about a resource is decided by a load. */
export const isSettled = ({ contested, quarantined }: OpenCases): boolean => contested + quarantined === 0

interface OpenCases {
  readonly contested: number
  readonly quarantined: number
}

/**
 * Whether every row is stored in that version or a later one and nothing is to be decided about the resource: no tombstone,
 * no evidence of a deletion, no quarantine. A rebuild may have brought back less than was loaded once.
 */
export async function areStored(engine: Engine, resource: Resource, rows: readonly Row[]): Promise<boolean> {
  const latest = new Map<string, number>()
  for (const { id, changedAt } of rows) latest.set(id, Math.max(changedAt, latest.get(id) ?? changedAt))
  if (!isSettled(await openCases(engine, resource.name))) return false
  if (latest.size === 0) return true
  const instant = (ms: number): string => quoteText(new Date(ms).toISOString())
  const values = [...latest].map(([id, changedAt]) => `(${quoteText(id)}, ${instant(changedAt)})`)
  // Tells the engines which parts of the table they need not read.
  const oldest = instant(Math.min(...latest.values()))
  const [row] = await engine.rows<{ n: number }>(
    `select count(*) as n from ${liveRecords(resource)} and t.source_updated_at >= cast(${oldest} as timestamptz)
       and exists (select 1 from (values ${values.join(', ')}) as s (id, changed_at)
         where s.id = ${recordKey(resource)} and t.source_updated_at >= cast(s.changed_at as timestamptz))`,
  )
  return Number(row?.n) === latest.size
}
