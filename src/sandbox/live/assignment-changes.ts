/** What happens to assignments: cloned for more work of the same kind. */
import { DAY_MS, lastFullWeek, WEEK_MS } from '../data/calendar.ts'
import { iso, objectId, reference } from '../data/identity.ts'
import type { ChangeContext } from './change-context.ts'

interface Link {
  readonly id: string
  readonly reference: string
}

const CLONE_WEEKS = 4

/** The clone begins last week and answers no requisition. Its number is above any that was ever given. */
export function cloneAssignment(context: ChangeContext, original: Link): Link {
  const number = Math.max(context.world.nextNumber('assignments'), context.world.nextNumber('timesheets'))
  const link = { id: objectId(context.rng, context.nowMs), reference: reference('ASG', number) }
  const model = context.world.get('assignments', original.id)
  if (!model) return link
  const { requisition: _, ended: __, completedDate: ___, replacement: ____, ...terms } = model
  const start = lastFullWeek(context.nowMs)
  context.create('assignments', {
    ...terms,
    ...link,
    status: 'confirmed',
    startDate: iso(start),
    timesheetStartDate: iso(start),
    endDate: iso(start + CLONE_WEEKS * WEEK_MS - DAY_MS),
    confirmationDate: context.now,
    weeksElapsed: 0,
    activities: [],
    clone: { date: context.now, original },
    createdAt: context.now,
    updatedAt: context.now,
  })
  return link
}
