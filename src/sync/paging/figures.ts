/** Counts what the passes of a scan have seen, for the proof. */
import { countIds } from '../../state/scans/scan-ids.ts'
import type { Engine } from '../../warehouse/engine.ts'
import type { Known } from './pass-state.ts'
import { hiddenRows, type PassFigures, steadyMoment, withSteady } from './proof.ts'
import type { Progress } from './scan.ts'

export interface Counting {
  readonly scanId: string
  /** Where the scan ends before the first page. */
  readonly known?: Known | undefined
  /** Rows that the list is known to hide. */
  readonly hidesRows?: number | undefined
  /** Whether a steady total may take the place of times; see `steadyMoment`. */
  readonly allowsSteady?: boolean
}

export async function figuresOf(
  engine: Engine,
  { pass, bases, attempt }: Progress,
  { scanId, known, hidesRows, allowsSteady = false }: Counting,
): Promise<PassFigures> {
  const moments = [...bases, ...(allowsSteady ? steadyMoment(pass) : [])]
  const since = pass.below > 0 ? known?.before : undefined
  const seen = await countIds(engine, { scanId, moments, ...(since !== undefined && { since }) })
  const { ids, inLastPass } = seen
  const hidden = hiddenRows(pass, { attempt, ids, inLastPass, known: hidesRows })
  return {
    attempt,
    bases,
    counted: withSteady(bases, seen.counted),
    ids,
    claimed: pass.said,
    excluded: pass.below + hidden,
    hidden,
  }
}
