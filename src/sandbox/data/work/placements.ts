/** Generates placements: a worker at a site on agreed terms. Timesheets and assignments are written for them. */
import { dayMs, weekMs } from '../../../lib/dates.ts'
import { type Draw, weekCount } from '../draw.ts'
import { iso, type Ref, refOf } from '../identity.ts'
import type { Agency } from '../master/companies.ts'
import type { RecordMaking } from '../master/master-data.ts'
import type { Site } from '../master/projects.ts'
import { agencyRoles, approverRoles } from '../master/users.ts'
import { personName, type Trade, trades } from '../names.ts'
import { even, ratesFor } from './pay.ts'

export type Placement = ReturnType<typeof placementFor>

interface WantedPlacement {
  readonly site: Site
  readonly agency: Agency
  /** Mondays of the weeks worked or to be worked. */
  readonly weeks: readonly number[]
  /** When the worker was assigned. */
  readonly createdMs: number
  readonly trade?: Trade
}

/** Days worked in a week of four kinds, 0 being Monday; weekdays are by far the most common. */
const weekPatterns: readonly (readonly [readonly number[], number])[] = [
  [[0, 1, 2, 3, 4], 70],
  [[0, 1, 2, 3, 4, 5], 16],
  [[0, 1, 2, 3], 8],
  [[4, 5, 6], 6],
]

const rateTypes = [
  ['paye', 5],
  ['cis', 4],
  ['psc', 1],
] as const

const siteDraws = 30
const longestWeeks = 40

export function makePlacement(making: RecordMaking): Placement {
  const { draw, master } = making
  const weeks = drawWeeks(making)
  const site = openSite(making, weeks)
  const agency = draw.skewed(master.agencies, 3)
  const createdMs = (weeks[0] as number) - draw.between(2, 12) * dayMs
  return placementFor(making, { site, agency, weeks, createdMs })
}

/** A placement for a given site, agency and time; only its terms are drawn. */
export function placementFor(
  making: RecordMaking,
  { site, agency, weeks, createdMs, trade }: WantedPlacement,
) {
  const { draw } = making
  const name = personName(draw)
  const worker = { id: draw.id(createdMs - dayMs), name, reference: draw.reference('WRK') }
  return {
    assignment: { id: draw.id(createdMs), reference: draw.reference('ASG') },
    worker,
    company: site.company,
    project: site.project,
    site: refOf(site),
    agency,
    ...drawTerms(draw, trade),
    ...peopleOf(making, site.company.id, agency),
    answers: draw.chance(0.1) ? [answerOf(draw, { agency, worker, createdMs })] : [],
    weeks,
    createdMs,
  }
}

/** Placements may begin before the first week, so that it has as much work as later weeks. */
function drawWeeks(making: RecordMaking): number[] {
  const { draw, seed } = making
  const first = draw.between(1 - longestWeeks, weekCount - 1)
  const length = draw.between(2, longestWeeks)
  const begin = Math.max(0, first)
  const count = Math.min(weekCount, first + length) - begin
  return count > 0 ? weeksFrom(seed.firstWeekMs + begin * weekMs, count) : drawWeeks(making)
}

/** A site whose project runs in those weeks, if a few draws find one. */
function openSite({ draw, master }: RecordMaking, weeks: readonly number[]): Site {
  const first = iso(weeks[0] as number)
  const last = iso(weeks.at(-1) as number)
  let site = draw.pick(master.sites)
  for (let draws = 0; draws < siteDraws; draws += 1) {
    const end = master.project(site.project.id).dates?.end
    if (site.createdAt <= first && (end === undefined || end >= last)) return site
    site = draw.skewed(master.sites)
  }
  return site
}

function drawTerms(draw: Draw, wanted: Trade | undefined) {
  const trade = wanted ?? draw.skewed(trades)
  const rateType = draw.weighted(rateTypes)
  const night = draw.chance(0.12)
  const payPence = even(trade.payPence * (0.95 + draw.fraction() * 0.2))
  return {
    trade,
    rateType,
    payType: draw.chance(0.05) ? ('daily' as const) : ('hourly' as const),
    rates: ratesFor(payPence, rateType, even(payPence * (0.1 + draw.fraction() * 0.06))),
    days: draw.weighted(weekPatterns),
    dayHours: draw.pick([8, 8, 8, 9, 9.5, 10]),
    startHour: night ? draw.pick([19, 20, 21]) : draw.pick([7, 7.5, 8]),
    night,
    /** Share of days with overtime. */
    overtime: night ? 0 : draw.pick([0, 0, 0.1, 0.3]),
    allocatesCosts: draw.chance(0.3),
  }
}

/** Approvers and requesters had an account before the first week. */
function peopleOf({ draw, master }: RecordMaking, companyId: string, agency: Agency) {
  const known = master.staff.members(companyId, approverRoles, 0)
  const approvers = [draw.pick(known), draw.pick(known)].filter(user => user !== undefined)
  const [requester] = master.staff.members(agency.id, agencyRoles, 0)
  return {
    approvers: [...new Set(approvers)].map(refOf),
    requester: { ...refOf(requester ?? agency), type: 'supplier' },
  }
}

function weeksFrom(mondayMs: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => mondayMs + index * weekMs)
}

/** The weeks from a Monday on, at least one. */
export function weeksOf(startMs: number, endMs: number): number[] {
  return weeksFrom(startMs, Math.max(1, Math.round((endMs - startMs) / weekMs)))
}

function answerOf(
  draw: Draw,
  { agency, worker, createdMs }: Pick<WantedPlacement, 'agency' | 'createdMs'> & { readonly worker: Ref },
) {
  return {
    fieldId: draw.id(createdMs),
    label: 'Expected travel time to site',
    fieldType: 'select',
    value: [draw.pick(['Under 30 minutes', '30 to 60 minutes', 'Over 60 minutes'])],
    answerScope: 'worker',
    submissionId: draw.id(createdMs),
    workerIds: [worker.id],
    agency: refOf(agency),
    worker: refOf(worker),
    displayLocations: ['timesheet', 'assignment'],
    submittedAt: iso(createdMs),
    submittedBy: refOf(agency),
    updatedAt: null,
    updatedBy: null,
  }
}
