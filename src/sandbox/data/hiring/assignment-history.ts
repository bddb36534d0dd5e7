/** The history of an assignment: its events with user and time, and the outcome. */
import { dayMs } from '../../../lib/dates.ts'
import type { Draw } from '../draw.ts'
import { iso, type Ref } from '../identity.ts'
import { agencyRoles, approverRoles, type Staff } from '../master/staff.ts'
import type { Engagement } from './engagements.ts'

interface Event {
  readonly atMs: number
  readonly activityType: string
  readonly user: Ref
  readonly reason?: string
}

/** Nothing happens at or after `endMs`. */
export function assignmentHistory(
  draw: Draw,
  engagement: Engagement,
  { staff, endMs }: { readonly staff: Staff; readonly endMs: number },
) {
  const { placement, confirmedMs, closedMs, reinstatedMs, status } = engagement
  const company = staff.drawRef(draw, placement.company.id, approverRoles) ?? placement.company
  const supplier = staff.drawRef(draw, placement.agency.id, agencyRoles) ?? placement.agency
  const events: Event[] = []
  const add = (atMs: number | undefined, activityType: string, by: Pick<Event, 'user' | 'reason'>) => {
    if (atMs !== undefined) events.push({ atMs, activityType, ...by })
  }
  const inError = { user: company, reason: 'Ended in error' }
  add(placement.createdMs, 'created', { user: company })
  add(confirmedMs, 'confirmed', { user: supplier })
  add(reinstatedMs && reinstatedMs - dayMs / 4, 'ended', inError)
  add(reinstatedMs, 'reinstated', inError)
  add(closedMs, status, { user: company, reason: engagement.reason ?? 'End date reached' })
  events.push(...amendment(draw, engagement, { user: company, endMs }))
  events.sort((left, right) => left.atMs - right.atMs)
  return {
    outcome: {
      ...outcome(engagement, events),
      assignedBy: draw.chance(0.7) ? company : undefined,
    },
    activities: events.map(event => logged(event, engagement)),
    lastMs: (events.at(-1) as Event).atMs,
  }
}

function amendment(
  draw: Draw,
  engagement: Engagement,
  { user, endMs }: { readonly user: Ref; readonly endMs: number },
): Event[] {
  const { startMs } = engagement
  const untilMs = Math.min(engagement.closedMs ?? engagement.endMs, endMs)
  if (startMs >= untilMs || !draw.chance(0.25)) return []
  const atMs = draw.time(startMs, untilMs)
  return [{ atMs, activityType: draw.chance(0.5) ? 'datesUpdated' : 'ratesUpdated', user }]
}

function outcome({ status, endMs }: Engagement, events: readonly Event[]) {
  const reinstated = events.find(event => event.activityType === 'reinstated')
  const reinstatement = reinstated ? { reinstatement: endingOf(reinstated, iso(reinstated.atMs)) } : {}
  const close = events.findLast(event => event.activityType === status)
  if (status === 'ended' && close) return { ended: endingOf(close, iso(endMs)), ...reinstatement }
  if (status === 'cancelled' && close) return { cancellation: endingOf(close, iso(close.atMs)) }
  return reinstatement
}

const endingOf = ({ reason = '', user }: Event, date: string) => ending(reason, date, user)

/** The same object for assignments that were ended, cancelled or reinstated. */
export function ending(reason: string, date: string, user: unknown) {
  return { reason, date, comments: `${reason}, told to the supplier`, user }
}

function logged({ atMs, activityType, user, reason }: Event, { placement }: Engagement) {
  return {
    created: iso(atMs),
    activityType,
    user: user.name,
    userId: user.id,
    entity: { id: placement.assignment.id, name: placement.assignment.reference },
    reason: reason ?? '',
    comments: '',
    message: `${activityType} by ${user.name}`,
  }
}
