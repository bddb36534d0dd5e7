/** Counts what the passes of a scan have seen, for the proof. */
import { countIds, type IdCounts, type Moment, type Question } from '../../state/scans/scan-ids.ts'
import type { Engine } from '../../warehouse/engine.ts'
import type { Known } from './pass-state.ts'
import type { PastPasses } from './past-passes.ts'
import { hiddenRows, type PassFigures, steadyMoment, withSteady } from './proof.ts'
import type { Progress } from './scan.ts'
import type { SeenRows } from './seen-rows.ts'

export interface Counting {
  readonly scanId: string
  /** Where the scan ends before the first page. */
  readonly known?: Known | undefined
  /** Rows that the list is known to hide. */
  readonly hidesRows?: number | undefined
  /** Whether a steady total may take the place of times; see `steadyMoment`. */
  readonly allowsSteady?: boolean
  readonly past: PastPasses
}

const momentsOf = ({ pass, bases }: Progress, { allowsSteady = false }: Counting): Moment[] => [
  ...bases,
  ...(allowsSteady ? steadyMoment(pass) : []),
]

function figuresFrom(seen: IdCounts, { pass, bases, attempt }: Progress, counting: Counting): PassFigures {
  const { ids, inLastPass } = seen
  const { hidesRows: known, past } = counting
  const isShuffled = past.isShuffledWith(pass, inLastPass)
  const still = past.stillWith(ids, pass)
  const hidden = hiddenRows(pass, { attempt, ids, inLastPass, known, still, isShuffled })
  return {
    attempt,
    bases,
    counted: withSteady(bases, seen.counted),
    ids,
    claimed: pass.said,
    excluded: pass.below + hidden,
    hidden,
    isCapped: pass.isCapped,
    isShuffled,
  }
}

/** Below its end a scan of changes counts only what changed since. */
export function questionOf(progress: Progress, counting: Counting): Question {
  const { scanId, known } = counting
  const moments = momentsOf(progress, counting)
  return { scanId, moments, ...(progress.pass.below > 0 && known && { since: known.before }) }
}

export async function figuresOf(
  engine: Engine,
  progress: Progress,
  counting: Counting,
): Promise<PassFigures> {
  return figuresFrom(await countIds(engine, questionOf(progress, counting)), progress, counting)
}

/** The same for rows in memory: those that count below the end of the pass. */
export function figuresOfSeen(rows: SeenRows, progress: Progress, counting: Counting): PassFigures {
  const moments = momentsOf(progress, counting)
  const last = Math.max(0, ...moments.map(({ pass }) => pass))
  const counted = moments.map(moment => rows.count(moment))
  return figuresFrom({ ...rows.figures(last), counted }, progress, counting)
}
