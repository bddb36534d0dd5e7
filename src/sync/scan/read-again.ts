/** Reads the records of some days again, whatever the mark says; the mark stays where it is. */

import { dayMs, utcDay } from '../../lib/dates.ts'
import { refuseWalking, walkingWindows } from '../../state/scans/windows.ts'
import type { WindowTable } from '../../state/schema.ts'
import type { ResourceTask } from '../run/context.ts'
import { fenced } from '../run/hold-lease.ts'
import { byUpdate, daysQuery, newWindow, walkOf } from './collection-window.ts'
import { readWindow } from './read-window.ts'
import type { Days } from './windows.ts'

/** The zone and the inclusivity of the day filter are unknown; whatever they are, two days more hold the days meant. */
const slackDays = 2

/**
 * A reading that was cut off is gone on with for so long after its last page, in milliseconds: by then the budget of
 * another day is there. What it read before that may have changed since, so that an older one begins anew.
 */
const freshFor = 2 * dayMs

/** Pages of another machine are not here, so that nothing tells when they were read. */
function isFresh({ sync }: ResourceTask, { window_id }: WindowTable): boolean {
  if (!sync.landing.walks().includes(window_id)) return false
  const last = sync.landing.pages(window_id).at(-1)
  return last !== undefined && Date.parse(last.fetchedAt) > sync.clock.now() - freshFor
}

/** Readings that were cut off and can be gone on with; the others are given up, so that their pages can be put away. */
export async function cutOff(task: ResourceTask): Promise<WindowTable[]> {
  const { engine } = task.sync
  const left = (await walkingWindows(engine, task.resource.name, 'backfill')).filter(
    ({ scope }) => scope !== null,
  )
  const stale = left.filter(window => !isFresh(task, window))
  if (stale.length > 0)
    await fenced(task, async () => {
      for (const { window_id } of stale) await refuseWalking(engine, { window_id })
    })
  return left.filter(window => !stale.includes(window))
}

/** `scope` says for whom. */
export async function readAgain(task: ResourceTask, days: Days, scope: string): Promise<void> {
  const isSame = (one: WindowTable): boolean =>
    one.scope === scope && one.from_day === days.from && one.to_day === days.to
  const left = (await cutOff(task)).find(isSame)
  const window = left ?? (await newWindow(task, { ...days, kind: 'backfill', scope }))
  await readWindow(task, {
    window,
    query: { ...task.resource.query, ...byUpdate, ...daysQuery(task, days) },
    beginAt: 1,
    finish: async () => undefined,
  })
}

/** Those created between two UTC days, or the whole list where it has no filter of days. */
export function readBetween(task: ResourceTask, from: string, to: string): Promise<void> {
  const bounded = walkOf(task).createdBetween !== undefined
  const days: Days = bounded
    ? { from: utcDay(from, -slackDays), to: utcDay(to, slackDays) }
    : { from: null, to: null }
  return readAgain(task, days, 'asked for')
}
