/** Who gets the connection next. */
import { expect, test } from 'vitest'
import { createTurns } from '../../src/warehouse/turns.ts'

const nothing = async () => undefined

test('whoever is short goes before the long ones that wait, and both in the order in which they came', async () => {
  const { transaction, statement } = createTurns({ begin: nothing, commit: nothing, rollback: nothing })
  const done: string[] = []
  const note = (name: string) => async () => void done.push(name)
  await Promise.all([
    transaction(note('merge 1'), 'long'),
    transaction(note('merge 2'), 'long'),
    transaction(note('merge 3'), 'long'),
    transaction(note('window')),
    statement(note('question')),
  ])
  expect(done).toEqual(['merge 1', 'window', 'question', 'merge 2', 'merge 3'])
})

test('what is long keeps its turn until it ends', async () => {
  const { transaction, statement } = createTurns({ begin: nothing, commit: nothing, rollback: nothing })
  const done: string[] = []
  const merge = transaction(async () => {
    await new Promise(resolve => setTimeout(resolve, 5))
    await statement(async () => done.push('inside'))
  }, 'long')
  await Promise.all([merge, statement(async () => done.push('outside'))])
  expect(done).toEqual(['inside', 'outside'])
})
