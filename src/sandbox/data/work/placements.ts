/** Who works where: the assignments that timesheets are written for. */
import { dayMs, weekMs } from '../../../lib/dates.ts'
import type { Draw } from '../draw.ts'
import { iso, type Ref, reference, refOf } from '../identity.ts'
import type { Agency, Company } from '../master/companies.ts'
import type { Project, Site } from '../master/projects.ts'
import type { User } from '../master/users.ts'
import { firstNames, lastNames, type Trade, trades } from '../names.ts'
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

export interface Stage {
  readonly companies: readonly Company[]
  readonly agencies: readonly Agency[]
  readonly projects: readonly Project[]
  readonly sites: readonly Site[]
  readonly users: readonly User[]
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
  readonly #seed: Seed
  readonly #stage: Stage
  readonly #draw: Draw
  readonly #approvers = new Map<string, readonly User[]>()
  readonly #requesters = new Map<string, User>()
  readonly #projectEnds: ReadonlyMap<string, string | undefined>
  #workers = 0
  #made = 0

  constructor(seed: Seed, stage: Stage) {
    this.#seed = seed
    this.#stage = stage
    this.#draw = seed.draw('placements')
    this.#projectEnds = new Map(stage.projects.map(project => [project.id, project.dates?.end]))
    for (const { id } of stage.companies) this.#approvers.set(id, approversOf(seed, stage, id))
    for (const agency of stage.agencies) {
      const staff = stage.users.filter(candidate => candidate.agencies.includes(agency.id))
      const [user] = longStanding(seed, staff)
      if (user) this.#requesters.set(agency.id, user)
    }
  }

  make(): Placement {
    const draw = this.#draw
    const stage = this.#stage
    const weeks = this.#weeks()
    const site = this.#openSite(weeks)
    const agency = draw.skewed(stage.agencies, 3)
    const createdMs = (weeks[0] as number) - draw.between(2, 12) * dayMs
    return this.makeFor({ site, agency, weeks, createdMs })
  }

  /** One that is wanted rather than drawn: all but its terms is given. */
  makeFor({ site, agency, weeks, createdMs, trade }: Wanted): Placement {
    const draw = this.#draw
    this.#made += 1
    const worker = this.#worker(createdMs)
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

  /** Some began before the first week: there is as much work then as later. */
  #weeks(): number[] {
    const first = this.#draw.between(1 - longestWeeks, weekCount - 1)
    const length = this.#draw.between(2, longestWeeks)
    const begin = Math.max(0, first)
    const end = Math.min(weekCount, first + length)
    if (end <= begin) return this.#weeks()
    return Array.from(
      { length: end - begin },
      (_, index) => this.#seed.firstWeekMs + (begin + index) * weekMs,
    )
  }

  /** A site whose project runs in those weeks, if a few draws find one. */
  #openSite(weeks: readonly number[]): Site {
    const first = iso(weeks[0] as number)
    const last = iso(weeks.at(-1) as number)
    let site = this.#draw.pick(this.#stage.sites)
    for (let draws = 0; draws < siteDraws; draws += 1) {
      const end = this.#projectEnds.get(site.project.id)
      if (site.createdAt <= first && (end === undefined || end >= last)) return site
      site = this.#draw.skewed(this.#stage.sites)
    }
    return site
  }

  #worker(createdMs: number): Worker {
    this.#workers += 1
    const name = `${this.#draw.pick(firstNames)} ${this.#draw.pick(lastNames)}`
    return { id: this.#draw.id(createdMs - dayMs), name, reference: reference('WRK', this.#workers) }
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

  #people(companyId: string, agency: Agency) {
    const known = this.#approvers.get(companyId) ?? []
    const approvers = [this.#draw.pick(known), this.#draw.pick(known)].filter(user => user !== undefined)
    const requester = this.#requesters.get(agency.id)
    return {
      approvers: [...new Set(approvers)].map(refOf),
      requester: { ...refOf(requester ?? agency), type: 'supplier' },
    }
  }
}

function approversOf(seed: Seed, stage: Stage, companyId: string): readonly User[] {
  const roles = ['projectApprover', 'projectAdmin']
  const users = stage.users.filter(user => roles.includes(user.role) && user.companies.includes(companyId))
  return longStanding(seed, users)
}

/** Users there from the first week on, so that nobody approves before having an account; all when there are none. */
function longStanding(seed: Seed, users: readonly User[]): readonly User[] {
  const early = users.filter(user => Date.parse(user.createdAt) < seed.firstWeekMs)
  return early.length > 0 ? early : users
}

function answerOf(
  draw: Draw,
  { agency, worker, createdMs }: { agency: Agency; worker: Worker; createdMs: number },
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
