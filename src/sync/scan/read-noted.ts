/** Reads what a sweep saw and no walk over changes reaches: records of the past that the warehouse lacks. */

import { daysBetween, utcDay } from '../../lib/dates.ts'
import type { UnreadTable } from '../../state/evidence/deletion-tables.ts'
import { forgetUnread, stillUnread } from '../../state/scans/unread.ts'
import type { ResourceTask } from '../run/context.ts'
import { fenced } from '../run/hold-lease.ts'
import { walkOf } from './collection-window.ts'
import { cutOff, readAgain, readBetween } from './read-again.ts'

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

const isDated = (row: UnreadTable): row is UnreadTable & { created_at: string } => row.created_at !== null

/** Once for each note: what is still missing then is gone again, and the next sweep tells. */
export async function readNoted(task: ResourceTask): Promise<void> {
  const { engine } = task.sync
  await cutOff(task)
  const rows = await fenced(task, () => stillUnread(engine, task.resource))
  if (rows.length === 0) return
  const dated = walkOf(task).createdBetween ? rows.filter(isDated) : []
  const days = dated.map(({ created_at }) => utcDay(created_at))
  if (dated.length < rows.length) await readAgain(task, { from: null, to: null }, 'noted by a sweep')
  else for (const { from, to } of spansOver(days)) await readBetween(task, from, to)
  await fenced(task, () => forgetUnread(engine, task.resource.name))
}
