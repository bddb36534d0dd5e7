/** Reads requisitions again until the cells that differ agree, the least plausible ones first. */
import { NotFound } from '../../api/client/errors.ts'
import { dayMs, weekMs } from '../../lib/dates.ts'
import { BudgetSpent } from '../../lib/errors.ts'
import type { MetricDefinition } from '../metrics/definition.ts'
import type { MetricFigures } from '../metrics/metric-query.ts'
import { type CrosscheckFinding, type DifferingCell, isWithin } from './finding.ts'
import { requisitionFinding } from './requisition-finding.ts'
import {
  type Acceptance,
  acceptancesOf,
  type ComparedRequisition,
  type StoredRequisition,
  servedRequisition,
} from './requisitions.ts'
import type { ExplanationContext } from './stored-records.ts'

/** Minimum, median and maximum show at most three values exactly. */
const maxShown = 3

/** The values in order; undefined where the figures do not show them all. */
export function shownValues(theirs: MetricFigures | undefined): readonly number[] | undefined {
  if (!theirs) return []
  const count = theirs.rawCount ?? 0
  const { excludedOutliers, minDays, medianDays, maxDays } = theirs
  if ((excludedOutliers ?? 0) > 0 || count > maxShown) return undefined
  const all = [minDays, ...(count === 3 ? [medianDays] : []), ...(count > 1 ? [maxDays] : [])]
  return all.flatMap(value => (value === null || value === undefined ? [] : [value]))
}

/** Max distance of a shown figure from the computed one. */
export const roundedBy = ({ daysDecimals }: MetricDefinition): number =>
  1e-6 + (daysDecimals === null ? 0 : 0.5 * 10 ** -daysDecimals)

/** The values of `from` without those of `list`; undefined when `from` does not contain all of `list`. */
export function without(
  from: readonly number[],
  list: readonly number[],
  tolerance: number,
): readonly number[] | undefined {
  const rest = [...from]
  for (const value of list) {
    const index = rest.findIndex(other => Math.abs(other - value) <= tolerance)
    if (index < 0) return undefined
    rest.splice(index, 1)
  }
  return rest
}

/** Whether these values give the shown figures. Excluded outliers are not visible in them. */
export function agree(
  values: readonly number[],
  theirs: MetricFigures,
  tolerance: number,
): boolean | undefined {
  if (values.length !== (theirs.rawCount ?? 0)) return false
  const shown = shownValues(theirs)
  if (shown) return without(shown, values, tolerance) !== undefined
  if ((theirs.excludedOutliers ?? 0) > 0) return undefined
  const sum = values.reduce((total, value) => total + value, 0)
  const pairs = [
    [Math.min(...values), theirs.minDays],
    [Math.max(...values), theirs.maxDays],
    [sum / values.length, theirs.averageDays],
  ] as const
  return pairs.every(([mine, other]) => Math.abs(mine - (other ?? Number.NaN)) <= tolerance)
}

/** The values that only the service has, where its figures show them. */
export function missingValues(
  values: readonly number[],
  theirs: MetricFigures | undefined,
  tolerance: number,
): readonly number[] | undefined {
  const shown = shownValues(theirs)
  if (shown) return without(shown, values, tolerance)
  const { rawCount, excludedOutliers, averageDays } = theirs as MetricFigures
  if (rawCount !== values.length + 1 || excludedOutliers !== 0 || typeof averageDays !== 'number')
    return undefined
  return [averageDays * rawCount - values.reduce((total, value) => total + value, 0)]
}

interface OwnedAcceptance {
  readonly id: string
  readonly acceptance: Acceptance
}

export class FillSearch {
  readonly #explaining: ExplanationContext
  readonly #stored: ReadonlyMap<string, StoredRequisition>
  readonly #read = new Map<string, ComparedRequisition | undefined>()
  readonly #tolerance: number
  #owned: readonly OwnedAcceptance[] | undefined
  isExhausted = false

  constructor(explaining: ExplanationContext, stored: ReadonlyMap<string, StoredRequisition>) {
    this.#explaining = explaining
    this.#stored = stored
    this.#tolerance = roundedBy(explaining.definition)
  }

  /** `lost`: ids that were stored once and are not any more. */
  async settle(cells: readonly DifferingCell[], lost: readonly string[]): Promise<void> {
    try {
      await this.#readAll(lost)
      await this.#readAll([...this.#stored.values()].filter(({ isOdd }) => isOdd).map(({ id }) => id))
      await this.#settleEach(cells, cell => (this.missing(cell) <= 0 ? this.#idsIn(cell) : []))
      await this.#settleEach(cells, cell => (this.isIncluded(cell) ? [] : this.#idsIn(cell)))
      await this.#settleEach(cells, cell => this.#candidates(cell))
    } catch (error) {
      if (!(error instanceof BudgetSpent)) throw error
      this.isExhausted = true
    }
  }

  /** Findings about the requisitions that were read again. */
  findings(): CrosscheckFinding[] {
    const { definition, range, names } = this.#explaining
    return [...this.#read].flatMap(([id, served]) => {
      const stored = this.#stored.get(id)
      const counted = (one: ComparedRequisition | undefined): Acceptance[] =>
        acceptancesOf(one, definition, range)
      return requisitionFinding({ stored, served }, counted, names) ?? []
    })
  }

  /** Acceptances by which the service exceeds us, counting the records that were read again. */
  missing({ keys, theirs }: DifferingCell): number {
    return (theirs?.rawCount ?? 0) - this.#in(keys).length
  }

  isSettled(cell: DifferingCell): boolean {
    const known = this.#in(cell.keys)
    const verdict = agree(valuesOf(known), cell.theirs ?? {}, this.#tolerance)
    return verdict ?? known.every(({ id }) => this.#read.has(id))
  }

  /** Whether every stored requisition was read again, or cannot have the missing acceptances by its times. */
  isExamined(cell: DifferingCell): boolean {
    return this.#candidates(cell).every(id => this.#read.has(id))
  }

  async #settleEach(
    cells: readonly DifferingCell[],
    choose: (cell: DifferingCell) => readonly string[],
  ): Promise<void> {
    for (const cell of cells) await this.#readAll(choose(cell), () => this.isSettled(cell))
  }

  async #readAll(ids: readonly string[], isEnough?: () => boolean): Promise<void> {
    for (const id of ids) {
      if (this.#read.has(id)) continue
      if (isEnough?.()) return
      try {
        this.#read.set(id, servedRequisition(await this.#explaining.asker.read(`/requisitions/${id}`)))
      } catch (error) {
        if (!(error instanceof NotFound)) throw error
        this.#read.set(id, undefined)
      }
      this.#owned = undefined
    }
  }

  /** Acceptances as the service shows them where it was read again, else as stored. */
  #all(): readonly OwnedAcceptance[] {
    const { definition, range } = this.#explaining
    const ids = new Set([...this.#stored.keys(), ...this.#read.keys()])
    this.#owned ??= [...ids].flatMap(id => {
      const best = this.#read.has(id) ? this.#read.get(id) : this.#stored.get(id)
      return acceptancesOf(best, definition, range).map(acceptance => ({ id, acceptance }))
    })
    return this.#owned
  }

  #in(keys: DifferingCell['keys']): readonly OwnedAcceptance[] {
    return this.#all().filter(({ acceptance }) => isWithin(acceptance.keys, keys))
  }

  #idsIn({ keys }: DifferingCell): readonly string[] {
    return [...new Set(this.#in(keys).map(({ id }) => id))]
  }

  /** Whether the service's values include ours, as far as they are shown or were read again. */
  isIncluded({ keys, theirs }: DifferingCell): boolean {
    const known = this.#in(keys)
    const shown = shownValues(theirs)
    if (shown) return without(shown, valuesOf(known), this.#tolerance) !== undefined
    return known.every(({ id }) => this.#read.has(id))
  }

  /** Stored requisitions that could have the missing acceptances of a cell. */
  #candidates({ keys, theirs }: DifferingCell): readonly string[] {
    const { project, agency, week } = keys
    if (agency === undefined || week === undefined) return []
    const { definition } = this.#explaining
    const days = missingValues(valuesOf(this.#in(keys)), theirs, this.#tolerance)
    const answered = new Set(
      this.#all()
        .filter(({ acceptance }) => acceptance.keys.agency === agency)
        .map(({ id }) => id),
    )
    return [...this.#stored.values()]
      .filter(stored => stored.project === project && stored.hasAgencies)
      .filter(({ id }) => definition.acceptance !== 'perAgency' || !answered.has(id))
      .filter(({ approvedAt }) => this.#canBeIn(approvedAt, week, days))
      .map(({ id }) => id)
  }

  /** Whether approval plus one of these durations can fall in the week, with slack for days and zones. */
  #canBeIn(approvedAt: number | null, week: string, days: readonly number[] | undefined): boolean {
    if (approvedAt === null || days === undefined) return true
    const { definition } = this.#explaining
    const isClamped = definition.negativeDays === 'zero'
    const slack = slackDays + this.#tolerance * 4
    const from = Date.parse(week) - slack * dayMs
    const to = Date.parse(week) + weekMs + slack * dayMs
    return days.some(value => {
      const at = approvedAt + value * dayMs
      return (at >= from && at < to) || (isClamped && value <= 0 && at >= from)
    })
  }
}

/** A zone differs by at most 14 hours, and a day unit by at most one day. */
const slackDays = 2

const valuesOf = (owned: readonly OwnedAcceptance[]): readonly number[] =>
  owned.map(({ acceptance }) => acceptance.days)
