/** What became of each alteration of SQL in TypeScript, noted line by line. */
import { appendFileSync, readFileSync } from 'node:fs'

export type TextState = 'killed' | 'survived' | 'not reached'

export interface TextNote {
  readonly id: string
  /** `begun` is followed by a state unless the process crashed. */
  readonly state: TextState | 'begun'
}

const maxCrashes = 2

export const noteState = (notes: string, note: TextNote): void =>
  appendFileSync(notes, `${JSON.stringify(note)}\n`)

/** An alteration with which the process crashed twice is noticed. */
export function statesIn(notes: string): ReadonlyMap<string, TextState> {
  const states = new Map<string, TextState>()
  const begun = new Map<string, number>()
  for (const line of readFileSync(notes, 'utf8').split('\n').filter(Boolean)) {
    const { id, state } = JSON.parse(line) as TextNote
    const times = (begun.get(id) ?? 0) + Number(state === 'begun')
    begun.set(id, times)
    if (state !== 'begun') states.set(id, state)
    else if (times >= maxCrashes) states.set(id, 'killed')
  }
  return states
}
