/** Reads the records of some created days again; the watermark stays where it is. */
import { dayMs, daysBetween, isWithin, utcDay } from '../../lib/dates.ts'
import { giveUpScans, unfinishedScans } from '../../state/scans/scans.ts'
import { forgetUnread, isAnyUnread, stillUnread } from '../../state/scans/sweeps.ts'
import type { ScanRow, UnreadRow } from '../../state/scans/tables.ts'
import { readWatermark } from '../../state/scans/watermarks.ts'
import type { ResourceTask } from '../run/context.ts'
import { fenced } from '../run/hold-lease.ts'
import { type Incomplete, requireNone, shortfallOf } from '../run/incomplete.ts'
import { byUpdate, daysQuery, openNewScan, pagingOf, scanOf } from './collection-window.ts'
import { readUntilProved } from './until-proved.ts'
import type { Days } from './windows.ts'

/** The zone and the inclusivity of the day filter are unknown. Two more days contain the days meant, whatever they are. */
const slackDays = 2

/**
 * A scan that was cut off is resumed for this long after its last page, in milliseconds, which includes the budget of another
 * day. An older one begins again, because the records it read may have changed since.
 */
const freshFor = 2 * dayMs

/** False for pages that are on another machine: their age is unknown. */
async function isFresh({ sync }: ResourceTask, { scan_id }: ScanRow): Promise<boolean> {
  if (!(await sync.landing.has(scan_id))) return false
  const last = (await sync.landing.pages(scan_id)).at(-1)
  return last !== undefined && isWithin(last.fetchedAt, sync.clock.now(), freshFor)
}

/** Scans that were cut off and can be resumed; the others are given up, so that their pages can be archived. */
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
async function readAgain(task: ResourceTask, days: Days, scope: string): Promise<void> {
  const isSame = (one: ScanRow): boolean =>
    one.scope === scope && one.from_day === days.from && one.to_day === days.to
  const left = (await cutOff(task)).find(isSame)
  const window = left ?? (await openNewScan(task, { ...days, kind: 'backfill', scope }))
  const watermark = await readWatermark(task.sync.engine, task.resource.name)
  await readUntilProved(task, {
    ...(watermark && pagingOf(watermark)),
    row: window,
    query: { ...task.resource.query, ...byUpdate, ...daysQuery(task, days) },
    beginAt: 1,
  })
}

/** Reads records created between two UTC days, or the whole list where it has no filter of days. */
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

/** Two days closer than this share a window: with the slack of each, two windows would read the days between them twice. */
const nearDays = 14
/** Scattered days are read in no more pieces than this. */
const mostSpans = 12

/** Few spans that contain all of these days, YYYY-MM-DD; no two spans are nearer than `near` days. */
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

/** Reads records that a sweep saw and that are not stored. One that is still missing then was deleted; the next sweep finds out. */
export async function readNoted(task: ResourceTask): Promise<void> {
  await cutOff(task)
  if (!(await isAnyUnread(task.sync.engine, task.resource.name))) return
  const rows = await fenced(task, engine => stillUnread(engine, task.resource))
  if (rows.length === 0) return
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
