/** What the notes of a run that was cut short say. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../support/captured-world.ts'
import { noteState, statesIn, type TextNote } from './text-states.ts'

test('what crashed once is tried again, and what crashed twice is noticed', () => {
  const notes = join(temporaryFolder(), 'notes.ndjson')
  const states: readonly TextNote['state'][][] = [
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
