/** Reads the records of some days again, whatever the mark says; the mark stays where it is. */

import { dayMs, daysBetween, utcDay } from '../../lib/dates.ts'
import { giveUpScans, unfinishedScans } from '../../state/scans/scans.ts'
import type { ScanRow, UnreadRow } from '../../state/scans/tables.ts'
import { forgetUnread, stillUnread } from '../../state/scans/unread.ts'
import type { ResourceTask } from '../run/context.ts'
import { fenced } from '../run/hold-lease.ts'
import { byUpdate, daysQuery, openNewScan, scanOf } from './collection-window.ts'
import { readUntilProved } from './loaded-scan.ts'
import type { Days } from './windows.ts'

/** The zone and the inclusivity of the day filter are unknown; whatever they are, two days more hold the days meant. */
const slackDays = 2

/**
 * A reading that was cut off is gone on with for so long after its last page, in milliseconds: by then the budget of
 * another day is there. What it read before that may have changed since, so that an older one begins anew.
 */
const freshFor = 2 * dayMs

/** Pages of another machine are not here, so that nothing tells when they were read. */
function isFresh({ sync }: ResourceTask, { scan_id }: ScanRow): boolean {
  if (!sync.landing.scans().includes(scan_id)) return false
  const last = sync.landing.pages(scan_id).at(-1)
  return last !== undefined && Date.parse(last.fetchedAt) > sync.clock.now() - freshFor
}

/** Readings that were cut off and can be gone on with; the others are given up, so that their pages can be put away. */
async function cutOff(task: ResourceTask): Promise<ScanRow[]> {
  const left = (await unfinishedScans(task.sync.engine, task.resource.name, 'backfill')).filter(
    ({ scope }) => scope !== null,
  )
  const stale = left.filter(window => !isFresh(task, window))
  if (stale.length > 0)
    await fenced(task, async engine => {
      for (const { scan_id } of stale) await giveUpScans(engine, { scan_id })
    })
  return left.filter(window => !stale.includes(window))
}

/** `scope` says for whom. */
async function readAgain(task: ResourceTask, days: Days, scope: string): Promise<void> {
  const isSame = (one: ScanRow): boolean =>
    one.scope === scope && one.from_day === days.from && one.to_day === days.to
  const left = (await cutOff(task)).find(isSame)
  const window = left ?? (await openNewScan(task, { ...days, kind: 'backfill', scope }))
  await readUntilProved(task, {
    row: window,
    query: { ...task.resource.query, ...byUpdate, ...daysQuery(task, days) },
    beginAt: 1,
  })
}

/** Those created between two UTC days, or the whole list where it has no filter of days. */
export function readBetween(task: ResourceTask, from: string, to: string): Promise<void> {
  const bounded = scanOf(task).createdBetween !== undefined
  const days: Days = bounded
    ? { from: utcDay(from, -slackDays), to: utcDay(to, slackDays) }
    : { from: null, to: null }
  return readAgain(task, days, 'asked for')
}

interface Span {
  readonly from: string
  readonly to: string
}

/** Closer than this, two days share a window: apart they would ask for the days between them twice. */
const nearDays = 14
/** A scattered list is not walked in more pieces than this. */
const mostSpans = 12

/** Few spans that hold all of these days, YYYY-MM-DD; no two of them are nearer than `near` days. */
export function spansOver(days: readonly string[], near = nearDays, most = mostSpans): Span[] {
  const spans: Span[] = []
  for (const day of [...new Set(days)].sort()) {
    const last = spans.at(-1)
    if (last && daysBetween(last.to, day) <= near) spans[spans.length - 1] = { from: last.from, to: day }
    else spans.push({ from: day, to: day })
  }
  return spans.length <= most ? spans : spansOver(days, near * 2, most)
}

const isDated = (row: UnreadRow): row is UnreadRow & { created_at: string } => row.created_at !== null

/** Once for each note: what is still missing then is gone again, and the next sweep tells. */
export async function readNoted(task: ResourceTask): Promise<void> {
  await cutOff(task)
  const rows = await fenced(task, engine => stillUnread(engine, task.resource))
  if (rows.length === 0) return
  const dated = scanOf(task).createdBetween ? rows.filter(isDated) : []
  const days = dated.map(({ created_at }) => utcDay(created_at))
  if (dated.length < rows.length) await readAgain(task, { from: null, to: null }, 'noted by a sweep')
  else for (const { from, to } of spansOver(days)) await readBetween(task, from, to)
  await fenced(task, engine => forgetUnread(engine, task.resource.name))
}
