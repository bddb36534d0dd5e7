/** The turns of a connection: priority, blocks and failed statements. */
import { expect, test } from 'vitest'
import { ConnectionTurns, type Turns } from '../../src/warehouse/turns.ts'
import { useEngines } from '../support/warehouse-fixture.ts'

const made = useEngines()
const nothing = async () => undefined
const turnsOfTest = (): ConnectionTurns =>
  new ConnectionTurns({ begin: nothing, commit: nothing, rollback: nothing })

test('short work overtakes queued long work, and each kind keeps the order in which it came', async () => {
  const turns = turnsOfTest()
  const done: string[] = []
  const note = (name: string) => async () => void done.push(name)
  await Promise.all([
    turns.transaction(note('merge 1'), 'long'),
    turns.transaction(note('merge 2'), 'long'),
    turns.transaction(note('merge 3'), 'long'),
    turns.transaction(note('window')),
    turns.statement(note('question')),
  ])
  expect(done).toEqual(['merge 1', 'window', 'question', 'merge 2', 'merge 3'])
})

test('long work keeps its turn until it ends', async () => {
  const turns = turnsOfTest()
  const done: string[] = []
  const merge = turns.transaction(async own => {
    await new Promise(resolve => setTimeout(resolve, 5))
    await own.statement(async () => done.push('inside'))
  }, 'long')
  await Promise.all([merge, turns.statement(async () => done.push('outside'))])
  expect(done).toEqual(['inside', 'outside'])
})

test('a statement that failed keeps its transaction from committing, also when the failure was caught', async () => {
  const ended: string[] = []
  const turns = new ConnectionTurns({
    begin: nothing,
    commit: async () => ended.push('commit'),
    rollback: async () => ended.push('rollback'),
  })
  const failing = (own: Turns) => own.statement(() => Promise.reject(new Error('no such table')))
  await expect(turns.transaction(own => failing(own).catch(nothing))).rejects.toThrow('no such table')
  await turns.transaction(nothing)
  expect(ended).toEqual(['rollback', 'commit'])
})

test('a block that has ended cannot write into the turn of another', async () => {
  const turns = turnsOfTest()
  let kept: Turns | undefined
  await turns.exclusive(async own => {
    kept = own
  })
  await expect(kept?.statement(nothing)).rejects.toThrow('block that has ended')
})

test('the engines of tests refuse a statement that would wait for its own block', async () => {
  const { engine } = await made.duckdb()
  await expect(engine.transaction(() => engine.run('select 1'))).rejects.toThrow('its own block')
  await engine.transaction(connection => connection.run('select 1'))
  await expect(engine.staging(connection => connection.merge(() => engine.run('select 1')))).rejects.toThrow(
    'its own block',
  )
})
