/** Reads the records of certain created days again; the watermark does not move. */
import { dayMs, daysBetween, isWithin, utcDay } from '../../lib/dates.ts'
import { giveUpScans, unfinishedScans } from '../../state/scans/scans.ts'
import { forgetUnread, isAnyUnread, stillUnread } from '../../state/scans/sweeps.ts'
import type { ScanRow, UnreadRow } from '../../state/scans/tables.ts'
import { readWatermark } from '../../state/scans/watermarks.ts'
import type { ResourceTask } from '../run/context.ts'
import { type Incomplete, requireNone, shortfallOf } from '../run/incomplete.ts'
import { fenced } from '../run/renew-lease.ts'
import { byUpdate, daysQuery, openNewScan, pagingOf, scanOf } from './collection-window.ts'
import { readUntilProved } from './until-proved.ts'
import type { WindowDays } from './windows.ts'

/**
 * It is unknown which time zone the day filter uses, and whether it is inclusive. Two more days are enough in any case.
 */
const slackDays = 2

/**
 * An interrupted scan is resumed for this long after its last page, in milliseconds; this spans another day's budget.
 * An older one begins again, because its records may have changed since.
 */
const freshFor = 2 * dayMs

/** False for pages on another machine: their age is unknown. */
async function isFresh({ sync }: ResourceTask, { scan_id }: ScanRow): Promise<boolean> {
  const last = (await sync.landing.pages(scan_id)).at(-1)
  return last !== undefined && isWithin(last.fetchedAt, sync.clock.now(), freshFor)
}

/** Returns interrupted scans that can be resumed. Gives up the others, so that their pages can be archived. */
async function cutOff(task: ResourceTask): Promise<ScanRow[]> {
  const left = (await unfinishedScans(task.sync.engine, task.resource.name, 'backfill')).filter(
    ({ scope }) => scope !== null,
  )
  const stale: ScanRow[] = []
  for (const window of left) if (!(await isFresh(task, window))) stale.push(window)
  if (stale.length > 0)
    await fenced(task, async engine => {
      for (const { scan_id } of stale) await giveUpScans(engine, { scan_id })
    })
  return left.filter(window => !stale.includes(window))
}

/** `scope` names the reason. */
async function readAgain(task: ResourceTask, days: WindowDays, scope: string): Promise<void> {
  const isSame = (one: ScanRow): boolean =>
    one.scope === scope && one.from_day === days.from && one.to_day === days.to
  const left = (await cutOff(task)).find(isSame)
  const window = left ?? (await openNewScan(task, { ...days, kind: 'backfill', scope }))
  const watermark = await readWatermark(task.sync.engine, task.resource.name)
  await readUntilProved(task, {
    ...(watermark && pagingOf(watermark, task.sync.hidden)),
    row: window,
    query: { ...task.resource.query, ...byUpdate, ...daysQuery(task, days) },
    beginAt: 1,
  })
}

/** Reads records created between two UTC days, or the full list if it has no filter by day. */
export function readBetween(task: ResourceTask, from: string, to: string): Promise<void> {
  const bounded = scanOf(task).createdBetween !== undefined
  const days: WindowDays = bounded
    ? { from: utcDay(from, -slackDays), to: utcDay(to, slackDays) }
    : { from: null, to: null }
  return readAgain(task, days, 'asked for')
}

interface DaySpan {
  readonly from: string
  readonly to: string
}

/**
 * Two days closer than this share a window: with slack on both sides, two windows would read the days between them
 * twice.
 */
const nearDays = 14
/** Maximum number of windows for scattered days. */
const maxSpans = 12

/** Finds a few spans that contain all of these days, YYYY-MM-DD, with more than `near` days between spans. */
export function spansOver(days: readonly string[], near = nearDays, max = maxSpans): DaySpan[] {
  const spans: DaySpan[] = []
  for (const day of [...new Set(days)].sort()) {
    const last = spans.at(-1)
    if (last && daysBetween(last.to, day) <= near) spans[spans.length - 1] = { from: last.from, to: day }
    else spans.push({ from: day, to: day })
  }
  return spans.length <= max ? spans : spansOver(days, near * 2, max)
}

const isDated = (row: UnreadRow): row is UnreadRow & { created_at: string } => row.created_at !== null

/**
 * Reads records that a sweep saw but that are not stored. A record that is still missing was deleted; the next sweep
 * will find out.
 */
export async function readNoted(task: ResourceTask): Promise<void> {
  await cutOff(task)
  if (!(await isAnyUnread(task.sync.engine, task.resource.name))) return
  const rows = await fenced(task, engine => stillUnread(engine, task.resource))
  const dated = scanOf(task).createdBetween ? rows.filter(isDated) : []
  const days = dated.map(({ created_at }) => utcDay(created_at))
  const found: Incomplete[] = []
  if (dated.length < rows.length) await readAgain(task, { from: null, to: null }, 'noted by a sweep')
  else
    for (const { from, to } of spansOver(days))
      found.push(...(await shortfallOf(readBetween(task, from, to))))
  requireNone(found)
  await fenced(task, engine => forgetUnread(engine, task.resource.name))
}
