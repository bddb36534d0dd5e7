/** Reads requisitions again until the cells that differ agree, the least plausible ones first. */
import { NotFound } from '../../api/client/errors.ts'
import { dayMs, weekMs } from '../../lib/dates.ts'
import { BudgetSpent } from '../../lib/errors.ts'
import { agree, missingValues, roundedBy, shownValues, without } from './fill-values.ts'
import { type DifferingCell, type Finding, isWithin } from './finding.ts'
import { type Acceptance, acceptancesOf, type Requisition, servedRequisition } from './requisition.ts'
import { requisitionFinding } from './requisition-finding.ts'
import type { Explaining } from './stored-records.ts'
import type { StoredRequisition } from './stored-requisitions.ts'

interface Owned {
  readonly id: string
  readonly acceptance: Acceptance
}

export class FillSearch {
  readonly #explaining: Explaining
  readonly #stored: ReadonlyMap<string, StoredRequisition>
  readonly #read = new Map<string, Requisition | undefined>()
  readonly #tolerance: number
  #owned: readonly Owned[] | undefined
  isExhausted = false

  constructor(explaining: Explaining, stored: ReadonlyMap<string, StoredRequisition>) {
    this.#explaining = explaining
    this.#stored = stored
    this.#tolerance = roundedBy(explaining.definition)
  }

  /** `lost` are ids that were stored once. */
  async settle(cells: readonly DifferingCell[], lost: readonly string[]): Promise<void> {
    await this.#readAll(lost)
    await this.#readAll([...this.#stored.values()].filter(({ isOdd }) => isOdd).map(({ id }) => id))
    await this.#settleEach(cells, cell => (this.missing(cell) <= 0 ? this.#idsIn(cell) : []))
    await this.#settleEach(cells, cell => (this.isIncluded(cell) ? [] : this.#idsIn(cell)))
    await this.#settleEach(cells, cell => this.#candidates(cell))
  }

  /** Of the requisitions that were read again. */
  findings(): Finding[] {
    const { definition, range, names } = this.#explaining
    return [...this.#read].flatMap(([id, served]) => {
      const stored = this.#stored.get(id)
      const counted = (one: Requisition | undefined): Acceptance[] => acceptancesOf(one, definition, range)
      return requisitionFinding({ stored, served }, counted, names) ?? []
    })
  }

  /** Acceptances that the service has more than we do, after what was read again. */
  missing({ keys, theirs }: DifferingCell): number {
    return (theirs?.rawCount ?? 0) - this.#in(keys).length
  }

  isSettled(cell: DifferingCell): boolean {
    const known = this.#in(cell.keys)
    if (known.length !== (cell.theirs?.rawCount ?? 0)) return false
    const verdict = agree(valuesOf(known), cell.theirs ?? {}, this.#tolerance)
    return verdict ?? known.every(({ id }) => this.#read.has(id))
  }

  /** Whether every stored requisition that could have the missing acceptances was read again, or cannot by its times. */
  isExamined(cell: DifferingCell): boolean {
    return this.isIncluded(cell) && this.#candidates(cell).every(id => this.#read.has(id))
  }

  async #settleEach(
    cells: readonly DifferingCell[],
    choose: (cell: DifferingCell) => readonly string[],
  ): Promise<void> {
    for (const cell of cells)
      if (!this.isSettled(cell)) await this.#readAll(choose(cell), () => this.isSettled(cell))
  }

  async #readAll(ids: readonly string[], isEnough: () => boolean = () => false): Promise<void> {
    for (const id of ids) {
      if (this.#read.has(id)) continue
      if (this.isExhausted || isEnough()) return
      try {
        this.#read.set(id, servedRequisition(await this.#explaining.asker.read(`/requisitions/${id}`)))
      } catch (error) {
        if (error instanceof NotFound) this.#read.set(id, undefined)
        else if (error instanceof BudgetSpent) this.isExhausted = true
        else throw error
      }
      this.#owned = undefined
    }
  }

  /** As the service shows a requisition, where it was read again, else as it is stored. */
  #all(): readonly Owned[] {
    const { definition, range } = this.#explaining
    const ids = new Set([...this.#stored.keys(), ...this.#read.keys()])
    this.#owned ??= [...ids].flatMap(id => {
      const best = this.#read.has(id) ? this.#read.get(id) : this.#stored.get(id)
      return acceptancesOf(best, definition, range).map(acceptance => ({ id, acceptance }))
    })
    return this.#owned
  }

  #in(keys: DifferingCell['keys']): readonly Owned[] {
    return this.#all().filter(({ acceptance }) => isWithin(acceptance.keys, keys))
  }

  #idsIn({ keys }: DifferingCell): readonly string[] {
    return [...new Set(this.#in(keys).map(({ id }) => id))]
  }

  /** Whether our values are among the service's, as far as is shown or was read again. */
  isIncluded({ keys, theirs }: DifferingCell): boolean {
    const known = this.#in(keys)
    const shown = shownValues(theirs)
    if (shown) return without(shown, valuesOf(known), this.#tolerance) !== undefined
    return known.every(({ id }) => this.#read.has(id))
  }

  /** Stored requisitions that could have accepted in a cell that lacks some. */
  #candidates({ keys, theirs }: DifferingCell): readonly string[] {
    const { project, agency, week } = keys
    if (project === undefined || agency === undefined || week === undefined) return []
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

  /** Approved so that one of these durations later lies in the week; days and zones are taken widely. */
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

/** A zone is at most 14 hours away, and a day unit at most a day. */
const slackDays = 2

const valuesOf = (owned: readonly Owned[]): readonly number[] =>
  owned.map(({ acceptance }) => acceptance.days)
