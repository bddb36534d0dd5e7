/** What was done to an assignment, by whom and when: its outcome, and the log of it. */
import { dayMs } from '../../../lib/dates.ts'
import type { Draw } from '../draw.ts'
import { iso, type Ref } from '../identity.ts'
import { agencyRoles, approverRoles, type Staff } from '../master/staff.ts'
import type { Seed } from '../seed.ts'
import type { Engagement } from './engagements.ts'

interface Event {
  readonly atMs: number
  readonly activityType: string
  readonly user: Ref
  readonly reason?: string
}

export class AssignmentHistory {
  readonly #seed: Seed
  readonly #draw: Draw
  readonly #staff: Staff

  constructor(seed: Seed, staff: Staff) {
    this.#seed = seed
    this.#draw = seed.draw('assignment trails')
    this.#staff = staff
  }

  of(engagement: Engagement) {
    const draw = this.#draw
    const staff = this.#staff
    const { placement, confirmedMs, closedMs, status } = engagement
    const company = staff.drawRef(draw, placement.company.id, approverRoles) ?? placement.company
    const supplier = staff.drawRef(draw, placement.agency.id, agencyRoles) ?? placement.agency
    const events: Event[] = [{ atMs: placement.createdMs, activityType: 'created', user: company }]
    if (confirmedMs !== undefined) {
      events.push({ atMs: confirmedMs, activityType: 'confirmed', user: supplier })
    }
    events.push(...this.#reinstated(engagement, company))
    if (closedMs !== undefined) {
      const reason = engagement.reason ?? 'End date reached'
      events.push({ atMs: closedMs, activityType: status, user: company, reason })
    }
    events.push(...this.#amendment(engagement, company))
    events.sort((left, right) => left.atMs - right.atMs)
    return {
      outcome: { ...this.#outcome(engagement, events), ...this.#assignedBy(company) },
      activities: events.map(event => logged(event, engagement)),
      lastMs: (events.at(-1) as Event).atMs,
    }
  }

  /** Taken up again a while after it was ended by mistake. */
  #reinstated({ reinstatedMs }: Engagement, user: Ref): Event[] {
    if (reinstatedMs === undefined) return []
    return [
      { atMs: reinstatedMs - dayMs / 4, activityType: 'ended', user, reason: 'Ended in error' },
      { atMs: reinstatedMs, activityType: 'reinstated', user, reason: 'Ended in error' },
    ]
  }

  #amendment({ startMs, endMs, closedMs }: Engagement, user: Ref): Event[] {
    const untilMs = Math.min(closedMs ?? endMs, this.#seed.endMs)
    if (startMs >= untilMs || !this.#draw.chance(0.25)) return []
    const atMs = this.#draw.time(startMs, untilMs)
    const activityType = this.#draw.chance(0.5) ? 'datesUpdated' : 'ratesUpdated'
    return [{ atMs, activityType, user }]
  }

  #outcome({ status, endMs }: Engagement, events: readonly Event[]) {
    const reinstated = events.find(event => event.activityType === 'reinstated')
    const reinstatement = reinstated ? { reinstatement: ending(reinstated, iso(reinstated.atMs)) } : {}
    const close = events.findLast(event => event.activityType === status)
    if (status === 'ended' && close) return { ended: ending(close, iso(endMs)), ...reinstatement }
    if (status === 'cancelled' && close) return { cancellation: ending(close, iso(close.atMs)) }
    return reinstatement
  }

  #assignedBy(user: Ref) {
    return this.#draw.chance(0.7) ? { assignedBy: user } : {}
  }
}

function ending({ reason, user }: Event, date: string) {
  return { reason: reason ?? '', date, comments: `${reason}, told to the supplier`, user }
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
