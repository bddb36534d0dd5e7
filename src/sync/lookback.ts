/** How far down a walk over changes reads. */
import { lastBegun } from '../warehouse/ledger/windows.ts'
import type { ResourceTask } from './context.ts'
import type { Known } from './walk.ts'

interface Marked {
  readonly mark: string
  /** When the last walk over changes began, by our clock; undefined before the first. */
  readonly begun: string | undefined
  readonly lookbackMs: number
}

/**
 * Records may be committed later than their times say, so that a walk looks back behind the mark. Once a walk has begun
 * when all that belongs there had come, it and the mark's own time are known. Our clock may be ahead of the service's,
 * so that twice the time must have gone by.
 */
export function knownBelow({ mark, begun, lookbackMs }: Marked): Known {
  const at = Date.parse(mark)
  const isSettled = begun !== undefined && Date.parse(begun) - at > 2 * lookbackMs
  return isSettled ? { before: at, at: mark } : { before: at - lookbackMs }
}

export async function knownTo({ sync, resource }: ResourceTask, mark: string): Promise<Known> {
  const begun = await lastBegun(sync.engine, resource.name)
  return knownBelow({ mark, begun, lookbackMs: sync.lookbackMs })
}
