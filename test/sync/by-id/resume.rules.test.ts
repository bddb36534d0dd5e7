/** How records that a killed run landed are loaded by the next one. */
import { describe, expect, test } from 'vitest'
import type { LandedPage } from '../../../src/landing/landing.ts'
import { PageUnreadable } from '../../../src/load/read/page-repair.ts'
import type { PageFile } from '../../../src/load/read/pages.ts'
import { freshScan, openScan } from '../../../src/state/scans/scans.ts'
import { RecordReader } from '../../../src/sync/by-id/record-reader.ts'
import { resourceOf, rulesWarehouse } from '../../support/rules-warehouse.ts'
import { hour, knownIds, rulesTasks, runOfScope, starRows, type TaskParts } from '../rules-task.ts'

const warehouse = rulesWarehouse()
const { task: newTask, landed } = rulesTasks(warehouse, 'dim_trade', 'bridge_trade_rate')
const trades = resourceOf('trades')

/** Nothing is asked of the service. */
async function readerOf(parts: TaskParts = {}) {
  const task = await newTask(trades, () => undefined, parts)
  await runOfScope(warehouse, 'before', task)
  return { task, reader: new RecordReader(task, 'sync') }
}
const stored = async (...ids: readonly string[]) => {
  await starRows(warehouse, { resource: trades, ids })
  await knownIds(warehouse, { resource: 'trades', ids }, { state: 'stored', fetchedAt: hour(-5), fetches: 1 })
}
const scans = async () =>
  (await warehouse.rows('select scan_id, state, loaded_sequence from ops.scan')).map(row => ({
    ...row,
    loaded_sequence: Number(row.loaded_sequence),
  }))
const lastFetches = async () =>
  new Map(
    (await warehouse.rows('select record_id, last_fetched_at from ops.discovered')).map(row => [
      row.record_id,
      row.last_fetched_at,
    ]),
  )

describe('what a killed run landed', () => {
  const page = (sequence: number, body: unknown): LandedPage =>
    landed('left', {
      ...{ sequence, page: 1, fetchedAt: hour(-1), runId: 'left' },
      bytes: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    })
  const answer = (id: unknown) => ({ success: true, data: { id } })
  const leave = (loaded: number) =>
    openScan(
      warehouse.engine,
      freshScan({
        ...{ scan_id: 'left', resource: 'trades', kind: 'by id', run_id: 'left', started_at: hour(-1) },
        ...{ loaded_sequence: loaded },
      }),
    )

  test('is loaded from the first page that was not, without a request', async () => {
    await stored('a', 'b', 'c')
    const pages = [page(1, answer('a')), page(2, answer('b')), page(3, answer('c'))]
    const { task, reader } = await readerOf({ pages })
    await leave(1)
    await reader.resume()
    expect(task.requests).toEqual([])
    expect(task.loads.map(load => load.pages.map(({ sequence }) => sequence))).toEqual([[2, 3]])
    expect(await scans()).toMatchObject([{ scan_id: 'left', state: 'accepted', loaded_sequence: 3 }])
    expect((await lastFetches()).get('b')).toBe(hour(-1))
    expect((await lastFetches()).get('a')).toBe(hour(-5))
    expect(task.landings).toEqual(['begin left {"resource":"trades","scope":{},"isById":true}'])
  })

  test.each([
    ['that was cut off', '{"success":true,"data":{"i'],
    ['with an id that is not safe', answer('a b')],
    ['with a number as its id', answer(7)],
    ['without a record', { success: true, data: null }],
    ['that is a refusal', { success: false, error: { code: 'X', message: 'no' } }],
  ])('without a page %s, which is forgotten', async (...[, body]) => {
    await stored('a')
    const pages = [page(1, body), page(2, answer('a'))]
    const { task, reader } = await readerOf({ pages })
    await leave(0)
    await reader.resume()
    expect(task.loads.map(load => load.pages.map(({ sequence }) => sequence))).toEqual([[2]])
    expect(task.landings).toContain('forget page 1')
  })

  test('and that cannot be read any more ends the reading', async () => {
    const pages = [{ ...page(1, answer('a')), file: 'no such file' }]
    const { task, reader } = await readerOf({ pages })
    await leave(0)
    await expect(reader.resume()).rejects.toThrow('no such file')
    expect(task.landings).not.toContain('forget page 1')
    expect(await scans()).toMatchObject([{ state: 'scanning' }])
  })

  test('and loaded already needs no load', async () => {
    const { task, reader } = await readerOf({ pages: [page(1, answer('a'))] })
    await leave(1)
    await reader.resume()
    expect(task.loads).toEqual([])
    expect(await scans()).toMatchObject([{ state: 'accepted' }])
  })

  test('is nothing where no run was killed', async () => {
    const { task, reader } = await readerOf()
    await reader.resume()
    expect(task.landings).toEqual([])
  })

  test('and cannot be loaded stays to be read', async () => {
    await stored('a', 'b')
    const pages = [page(1, answer('a')), page(2, answer('b'))]
    let loads = 0
    const load = () => {
      loads += 1
      if (loads === 1)
        throw new PageUnreadable(pages.slice(0, 1) as object[] as [PageFile], new Error('not JSON'))
    }
    const { task, reader } = await readerOf({ pages, load })
    await leave(0)
    await reader.resume()
    expect(task.requests).toEqual([])
    expect(task.loads.at(-1)?.pages.map(({ sequence }) => sequence)).toEqual([2])
  })
})
