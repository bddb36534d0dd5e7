/** Seeds of the model of scans, none of which may lose a record. */
import { expect } from 'vitest'
import { historyOf, lost, missingAfterwards, run } from './modelled-histories.ts'

interface Proved {
  readonly accepted: number
  readonly refused: number
}

export async function proveHistories(first: number, last: number, { hasLies = false } = {}): Promise<Proved> {
  let [accepted, refused] = [0, 0]
  for (let seed = first; seed <= last; seed += 1) {
    const history = historyOf(seed, { hasLies })
    const ran = await run(history)
    if (lost(ran).length > 0) expect({ history, lost: lost(ran) }).toEqual({ history, lost: [] })
    if (ran.decision === 'accepted') accepted += 1
    else refused += 1
  }
  return { accepted, refused }
}

/** Returns how many histories were kept. */
export async function proveKeeping(first: number, last: number): Promise<number> {
  let kept = 0
  for (let seed = first; seed <= last; seed += 1) {
    const missing = await missingAfterwards(seed)
    if (missing.length > 0) expect({ seed, missing }).toEqual({ seed, missing: [] })
    kept += 1
  }
  return kept
}
