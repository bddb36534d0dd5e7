/** Placements: a worker at a site on agreed terms. Timesheets and assignments are written for them. */
import { dayMs, weekMs } from '../../../lib/dates.ts'
import type { Draw } from '../draw.ts'
import { iso, type Ref, reference, refOf } from '../identity.ts'
import type { Agency } from '../master/companies.ts'
import type { MasterData } from '../master/master-data.ts'
import type { Site } from '../master/projects.ts'
import { agencyRoles, approverRoles } from '../master/staff.ts'
import { personName, type Trade, trades } from '../names.ts'
import { type Seed, weekCount } from '../seed.ts'
import { even, type Rates, ratesFor } from './pay.ts'

export interface Worker extends Ref {
  readonly reference: string
}

export interface Placement {
  readonly assignment: { readonly id: string; readonly reference: string }
  readonly worker: Worker
  readonly company: Ref
  readonly project: Ref
  readonly site: Ref
  readonly agency: Agency
  readonly trade: Trade
  readonly payType: 'hourly' | 'daily'
  readonly rateType: string
  readonly rates: Rates
  /** Days worked, 0 is Monday. */
  readonly days: readonly number[]
  readonly dayHours: number
  readonly startHour: number
  readonly night: boolean
  /** Share of days with overtime. */
  readonly overtime: number
  readonly allocatesCosts: boolean
  readonly approvers: readonly Ref[]
  readonly requester: Ref & { readonly type: string }
  readonly answers: readonly object[]
  /** Mondays of the weeks worked or to be worked. */
  readonly weeks: readonly number[]
  /** When the worker was assigned. */
  readonly createdMs: number
}

export interface Wanted {
  readonly site: Site
  readonly agency: Agency
  readonly weeks: readonly number[]
  readonly createdMs: number
  readonly trade?: Trade
}

/** Work weeks of four kinds, weekdays being by far the most common. */
const weekPatterns: readonly (readonly [readonly number[], number])[] = [
  [[0, 1, 2, 3, 4], 70],
  [[0, 1, 2, 3, 4, 5], 16],
  [[0, 1, 2, 3], 8],
  [[4, 5, 6], 6],
]

const siteDraws = 30
const longestWeeks = 40

export class PlacementMaker {
  readonly #firstWeekMs: number
  readonly #master: MasterData
  readonly #draw: Draw
  #made = 0

  constructor(seed: Seed, master: MasterData) {
    this.#firstWeekMs = seed.firstWeekMs
    this.#master = master
    this.#draw = seed.draw('placements')
  }

  make(): Placement {
    const draw = this.#draw
    const weeks = this.#weeks()
    const site = this.#openSite(weeks)
    const agency = draw.skewed(this.#master.agencies, 3)
    const createdMs = (weeks[0] as number) - draw.between(2, 12) * dayMs
    return this.makeFor({ site, agency, weeks, createdMs })
  }

  /** A placement for a given site, agency and time; only its terms are drawn. */
  makeFor({ site, agency, weeks, createdMs, trade }: Wanted): Placement {
    const draw = this.#draw
    this.#made += 1
    const name = personName(draw)
    const worker = { id: draw.id(createdMs - dayMs), name, reference: reference('WRK', this.#made) }
    return {
      assignment: { id: draw.id(createdMs), reference: reference('ASG', this.#made) },
      worker,
      company: site.company,
      project: site.project,
      site: refOf(site),
      agency,
      ...this.#terms(trade),
      ...this.#people(site.company.id, agency),
      answers: draw.chance(0.1) ? [answerOf(draw, { agency, worker, createdMs })] : [],
      weeks,
      createdMs,
    }
  }

  /** Placements may begin before the first week, so that it has as much work as later weeks. */
  #weeks(): number[] {
    const first = this.#draw.between(1 - longestWeeks, weekCount - 1)
    const length = this.#draw.between(2, longestWeeks)
    const begin = Math.max(0, first)
    const end = Math.min(weekCount, first + length)
    const count = end - begin
    return count > 0 ? weeksFrom(this.#firstWeekMs + begin * weekMs, count) : this.#weeks()
  }

  /** A site whose project runs in those weeks, if a few draws find one. */
  #openSite(weeks: readonly number[]): Site {
    const { sites } = this.#master
    const first = iso(weeks[0] as number)
    const last = iso(weeks.at(-1) as number)
    let site = this.#draw.pick(sites)
    for (let draws = 0; draws < siteDraws; draws += 1) {
      const end = this.#master.project(site.project.id).dates?.end
      if (site.createdAt <= first && (end === undefined || end >= last)) return site
      site = this.#draw.skewed(sites)
    }
    return site
  }

  #terms(wanted: Trade | undefined) {
    const draw = this.#draw
    const trade = wanted ?? draw.skewed(trades)
    const rateType = draw.weighted([
      ['paye', 5],
      ['cis', 4],
      ['psc', 1],
    ] as const)
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
      overtime: night ? 0 : draw.pick([0, 0, 0.1, 0.3]),
      allocatesCosts: draw.chance(0.3),
    }
  }

  /** Approvers and requesters had an account before the first week. */
  #people(companyId: string, agency: Agency) {
    const { staff } = this.#master
    const known = staff.members(companyId, { roles: approverRoles, leadDays: 0 })
    const approvers = [this.#draw.pick(known), this.#draw.pick(known)].filter(user => user !== undefined)
    const [requester] = staff.members(agency.id, { roles: agencyRoles, leadDays: 0 })
    return {
      approvers: [...new Set(approvers)].map(refOf),
      requester: { ...refOf(requester ?? agency), type: 'supplier' },
    }
  }
}

export function weeksFrom(mondayMs: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => mondayMs + index * weekMs)
}

function answerOf(
  draw: Draw,
  { agency, worker, createdMs }: Pick<Placement, 'agency' | 'worker' | 'createdMs'>,
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
