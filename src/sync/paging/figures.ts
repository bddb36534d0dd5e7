/** Counts what the passes of a scan have seen, for the proof. */
import {
  countIds,
  type IdCountsQuery,
  type PassStartTime,
  type ScanIdCounts,
} from '../../state/scans/scan-ids.ts'
import type { Engine } from '../../warehouse/engine.ts'
import type { KnownTimes } from './page-facts.ts'
import type { Pass } from './pass.ts'
import {
  hiddenRows,
  isShuffled,
  type PassFigures,
  seenAndExpected,
  steadyStart,
  withSteady,
} from './proof.ts'
import type { ScanProgress } from './scan.ts'
import type { SeenRows } from './seen-rows.ts'

/** Results of a scan's previous passes in this run, for judging the next one. */
export class PreviousPasses {
  /** Records missing from each pass. */
  readonly shortfalls: number[] = []
  readonly #shown: { readonly ids: number; readonly total: number | undefined; readonly size: number }[] = []
  #isShuffled = false

  /**
   * Counts the last passes, including this one, that saw the same number of ids and started with the same total.
   * Without different page sizes among them, only this pass counts.
   */
  stillWith(ids: number, { start, size }: Pick<Pass, 'start' | 'size'>): number {
    const changed = this.#shown.findLastIndex(one => one.ids !== ids || one.total !== start?.total)
    const others = this.#shown.slice(changed + 1)
    return others.some(one => one.size !== size) ? others.length + 1 : 1
  }

  /** Whether this pass, or an earlier one, returned rows in a different order than before. */
  isShuffledWith(pass: Pass, inLastPass: number): boolean {
    return this.#isShuffled || isShuffled(pass, inLastPass)
  }

  /** Called at the end of a pass. */
  add(figures: PassFigures, { size }: Pick<Pass, 'size'>): void {
    const { seen, expected } = seenAndExpected(figures)
    this.shortfalls.push(expected - seen)
    this.#shown.push({ ids: figures.ids, total: figures.starts.at(-1)?.total, size })
    this.#isShuffled ||= figures.isShuffled ?? false
  }
}

export interface CountContext {
  readonly scanId: string
  /** For scans that stop early: what earlier scans have read. */
  readonly known?: KnownTimes | undefined
  /** Number of rows that the list is known to hide. */
  readonly hidesRows?: number | undefined
  /** Whether a steady total may replace times; see `steadyStart`. */
  readonly allowsSteady?: boolean
  readonly previous: PreviousPasses
}

const countedStarts = (
  { pass, starts }: ScanProgress,
  { allowsSteady = false }: Pick<CountContext, 'allowsSteady'>,
): PassStartTime[] => [...starts, ...(allowsSteady ? steadyStart(pass) : [])]

type HiddenCounts = Pick<CountContext, 'hidesRows' | 'previous'>

export function figuresFrom(
  seen: ScanIdCounts,
  { pass, starts, attempt }: ScanProgress,
  { hidesRows: known, previous }: HiddenCounts,
): PassFigures {
  const { ids, inLastPass } = seen
  const isOutOfOrder = previous.isShuffledWith(pass, inLastPass)
  const still = previous.stillWith(ids, pass)
  const hidden = hiddenRows(pass, { attempt, ids, inLastPass, known, still, isShuffled: isOutOfOrder })
  return {
    attempt,
    starts,
    counted: withSteady(starts, seen.counted),
    ids,
    total: pass.lastTotal,
    excluded: pass.below + hidden,
    hidden,
    isShuffled: isOutOfOrder,
    isSizeInferred: pass.sizeIs === 'inferred',
    contradiction: pass.contradiction,
  }
}

/** Below its end, an incremental scan counts only later changes. */
export function idCountsQueryOf(progress: ScanProgress, counting: CountContext): IdCountsQuery {
  const { scanId, known } = counting
  const passStarts = countedStarts(progress, counting)
  return { scanId, passStarts, ...(progress.pass.below > 0 && known && { since: known.before }) }
}

export async function figuresOf(
  engine: Engine,
  progress: ScanProgress,
  counting: CountContext,
): Promise<PassFigures> {
  return figuresFrom(await countIds(engine, idCountsQueryOf(progress, counting)), progress, counting)
}

/** The same for rows in memory; `rows` contains only rows that count. */
export function figuresOfSeen(
  rows: SeenRows,
  progress: ScanProgress,
  counting: HiddenCounts & Pick<CountContext, 'allowsSteady'>,
): PassFigures {
  const passStarts = countedStarts(progress, counting)
  const last = Math.max(0, ...passStarts.map(({ pass }) => pass))
  const counted = passStarts.map(passStart => rows.count(passStart))
  return figuresFrom({ ...rows.figures(last), counted }, progress, counting)
}
