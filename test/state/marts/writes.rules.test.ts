/** Writes are counted by name and kind, each time by one. */
import { expect, test } from 'vitest'
import { countChange, countWrites, type WriteKind, writeCounts } from '../../../src/state/marts/writes.ts'
import { ledgerBench } from '../../support/ledger-bench.ts'

const bench = ledgerBench()
const write = (...writes: (readonly [string, WriteKind])[]) => countWrites(bench.engine, new Map(writes))

async function counts() {
  const rows = [...(await writeCounts(bench.engine)).values()]
  return Object.fromEntries(
    rows.map(({ name, changes, touches }) => [name, [Number(changes), Number(touches)]]),
  )
}

test('nothing is counted before the first write, nor for a batch that writes no row', async () => {
  await write()
  expect(await counts()).toEqual({})
})

test('each write counts once, under its names, as its kind, in the transaction that it is in', async () => {
  await write(['timesheets', 'changes'], ['worker', 'touches'])
  expect(await counts()).toEqual({ timesheets: [1, 0], worker: [0, 1] })
  await write(['timesheets', 'touches'])
  await write(['worker', 'changes'], [`it's new`, 'touches'])
  await countChange(bench.engine, 'timesheets')
  expect(await counts()).toEqual({ timesheets: [2, 1], worker: [1, 1], "it's new": [0, 1] })
})

test('what was counted in a transaction that rolled back is not', async () => {
  expect(await counts()).toEqual({})
})
