/**
 * Recognizes an incremental scan that finds nothing new. Its rows are byte for byte those that the previous scan read,
 * compared and loaded, so they need not be staged and compared again.
 */
import { createHash } from 'node:crypto'
import { rowsOfPage } from '../../api/client/envelope.ts'
import { isId } from '../../contract/fields/record-id.ts'
import type { Resource } from '../../contract/fields/resource.ts'
import { programVersion } from '../../lib/package.ts'
import { defaultLimits, type RecordLimits } from '../../load/page/record-limits.ts'
import { openCases } from '../../state/evidence/evidence.ts'
import { numberOf } from '../../state/ledger.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { liveRecords, recordKey } from '../../warehouse/schema/record-rows.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import type { KnownTimes } from '../paging/page-facts.ts'
import type { ScanProgress } from '../paging/scan.ts'
import { SeenRows } from '../paging/seen-rows.ts'

/** Digests are stored for at most this many pages; an incremental scan rarely has more than one. */
const maxPages = 10

/** A row of the list, with the times by which it counts for a scan: milliseconds since the epoch. */
export interface ScanRowTimes {
  readonly id: string
  readonly changedAt: number
  readonly existedAt: number
}

/**
 * Includes the program version and the limits, which may change how the same bytes load. Undefined for unusual
 * envelopes.
 */
export function digestOf(bytes: Buffer, limits: RecordLimits = defaultLimits): string | undefined {
  const rows = rowsOfPage(bytes)
  if (!rows) return undefined
  const hash = createHash('sha256').update(`${programVersion} ${JSON.stringify(limits)}\n`)
  return hash.update(rows).digest('hex')
}

/** The form stored next to the watermark; null if there are none, or more than are worth storing. */
export const digestsText = (digests: readonly (string | undefined)[]): string | null =>
  digests.length === 0 || digests.length > maxPages || digests.includes(undefined) ? null : digests.join(' ')

export const digestsIn = (text: string | null): ReadonlySet<string> =>
  new Set(text?.split(' ').filter(Boolean))

/** Times that the engines and JavaScript read alike, to the millisecond. */
const plainTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/

const timeOf = (text: unknown): number =>
  typeof text === 'string' && plainTime.test(text) ? Date.parse(text) : Number.NaN

function rowOf(record: unknown, updatedAt: string): ScanRowTimes | undefined {
  const { id, createdAt, ...fields } = Object(record) as Record<string, unknown>
  const changedAt = timeOf(fields[updatedAt])
  const created = createdAt == null ? changedAt : timeOf(createdAt)
  const existedAt = Math.min(changedAt, created)
  if (typeof id !== 'string' || !isId(id) || Number.isNaN(existedAt)) return undefined
  return { id, changedAt, existedAt }
}

/** Undefined when a record has no plain id or times: then a load decides how it counts. */
export function rowsOf(records: readonly unknown[], updatedAt: string): readonly ScanRowTimes[] | undefined {
  const rows = records.map(record => rowOf(record, updatedAt))
  return rows.some(row => row === undefined) ? undefined : (rows as ScanRowTimes[])
}

interface SamePage {
  readonly pass: number
  readonly isFront: boolean
  /** Its rows if they are byte for byte those of the previous scan; otherwise undefined. */
  readonly same?: readonly ScanRowTimes[] | undefined
}

type KnownPage = SamePage & { readonly same: readonly ScanRowTimes[] }

/** Whether these pages are a complete scan in one pass, and each has the same rows as in the previous scan. */
export function isCompleteScan<Page extends SamePage>(
  { pass, attempt, sequence }: ScanProgress,
  pages: readonly Page[],
): pages is readonly (Page & KnownPage)[] {
  const isComplete = pass.nextPage === 0 && attempt === 1 && sequence === pages.length
  return isComplete && pages.every(({ same }) => same !== undefined)
}

interface CountedScan {
  readonly known?: KnownTimes | undefined
  readonly isFiltered?: boolean | undefined
}

/**
 * Returns the rows that count. Below its end, an incremental scan counts only later changes. A record may have existed
 * long before its change brought it into a filtered list.
 */
export function seenOf(
  pages: readonly KnownPage[],
  { pass }: ScanProgress,
  { known, isFiltered }: CountedScan,
): SeenRows {
  const since = pass.below > 0 && known ? known.before : Number.NEGATIVE_INFINITY
  const seen = new SeenRows()
  for (const { same, ...page } of pages)
    for (const { id, changedAt, existedAt } of same)
      if (changedAt >= since) seen.add(id, page, isFiltered ? changedAt : existedAt)
  return seen
}

/** Whether nothing is left to decide about the resource; otherwise the rows have to be loaded. */
export const isSettled = ({ contested, quarantined }: OpenCases): boolean => contested + quarantined === 0

interface OpenCases {
  readonly contested: number
  readonly quarantined: number
}

/**
 * Whether every row is stored in this version or a later one, and nothing is left to decide about the resource: no
 * tombstone, no evidence of a deletion, no quarantine. A rebuild may have restored less than was once loaded.
 */
export async function areStored(
  engine: Engine,
  resource: Resource,
  rows: readonly ScanRowTimes[],
): Promise<boolean> {
  const latest = new Map<string, number>()
  for (const { id, changedAt } of rows) latest.set(id, Math.max(changedAt, latest.get(id) ?? changedAt))
  if (!isSettled(await openCases(engine, resource.name))) return false
  if (latest.size === 0) return true
  const instant = (ms: number): string => quoteText(new Date(ms).toISOString())
  const values = [...latest].map(([id, changedAt]) => `(${quoteText(id)}, ${instant(changedAt)})`)
  // Lets the engines skip parts of the table.
  const oldest = instant(Math.min(...latest.values()))
  const stored = await numberOf(
    engine,
    `select count(*) as n from ${liveRecords(resource)} and t.source_updated_at >= cast(${oldest} as timestamptz)
       and exists (select 1 from (values ${values.join(', ')}) as s (id, changed_at)
         where s.id = ${recordKey(resource)} and t.source_updated_at >= cast(s.changed_at as timestamptz))`,
  )
  return stored === latest.size
}
