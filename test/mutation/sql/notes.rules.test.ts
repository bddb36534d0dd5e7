/** What the notes of a run that was cut short say, and how it goes on. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../support/captured-world.ts'
import { type MutantNote, noteState, statesIn, statesOf } from './notes.ts'

test('what crashed once is tried again, and what crashed twice is noticed', () => {
  const notes = join(temporaryFolder(), 'notes.ndjson')
  const states: readonly MutantNote['state'][][] = [
    ['begun', 'survived'],
    ['begun', 'begun', 'survived'],
    ['begun'],
    ['begun', 'begun'],
    ['not reached'],
  ]
  for (const [id, of] of states.entries()) for (const state of of) noteState(notes, { id: `${id}`, state })
  expect(Object.fromEntries(statesIn(notes))).toEqual({
    0: 'survived',
    1: 'survived',
    3: 'killed',
    4: 'not reached',
  })
})

test('after a crash another process goes on, and one that fails before it tries anything is given up', () => {
  const notes = join(temporaryFolder(), 'notes.ndjson')
  const crash = () => noteState(notes, { id: 'a', state: 'begun' })
  const end = () => {
    noteState(notes, { id: 'a', state: 'killed' })
    noteState(notes, { id: 'b', state: 'survived' })
  }
  const steps = [crash, end]
  const start = () => {
    steps.shift()?.()
    return { status: steps.length === 0 ? 0 : 1 }
  }
  expect(Object.fromEntries(statesOf(notes, start))).toEqual({ a: 'killed', b: 'survived' })
  expect(() => statesOf(notes, () => ({ status: 1 }))).toThrow('no alteration was tried: exit code 1')
})
