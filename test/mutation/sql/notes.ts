/** What became of each alteration of SQL, noted line by line: another process goes on where one crashed. */
import type { SpawnSyncReturns } from 'node:child_process'
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'

export type MutantState = 'killed' | 'survived' | 'not reached'

export interface MutantNote {
  readonly id: string
  /** `begun` is followed by a state unless the process crashed. */
  readonly state: MutantState | 'begun'
}

const maxCrashes = 2

export const noteState = (notes: string, note: MutantNote): void =>
  appendFileSync(notes, `${JSON.stringify(note)}\n`)

/** An alteration with which the process crashed twice is noticed. */
export function statesIn(notes: string): ReadonlyMap<string, MutantState> {
  const states = new Map<string, MutantState>()
  const begun = new Map<string, number>()
  for (const line of readFileSync(notes, 'utf8').split('\n').filter(Boolean)) {
    const { id, state } = JSON.parse(line) as MutantNote
    const times = (begun.get(id) ?? 0) + Number(state === 'begun')
    begun.set(id, times)
    if (state !== 'begun') states.set(id, state)
    else if (times >= maxCrashes) states.set(id, 'killed')
  }
  return states
}

/**
 * Starts the process that notes states until it ends well. DuckDB sometimes crashes with an alteration: another goes on where
 * that one ended. Throws an Error if one fails before it notes anything.
 */
export function statesOf(
  notes: string,
  start: () => Pick<SpawnSyncReturns<Buffer>, 'status'>,
): ReadonlyMap<string, MutantState> {
  writeFileSync(notes, '')
  for (;;) {
    const { size } = statSync(notes)
    const { status } = start()
    if (status === 0) return statesIn(notes)
    if (statSync(notes).size === size) throw new Error(`no alteration was tried: exit code ${status}`)
  }
}
