/** What commits with the rows of a batch, in which order, and what a lost lease keeps from being written. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { LandedPage } from '../../../src/landing/landing.ts'
import { Busy, OutOfMemory } from '../../../src/lib/errors.ts'
import type { ResourceTask } from '../../../src/sync/run/context.ts'
import { TaskPipeline } from '../../../src/sync/run/task-pipeline.ts'
import type { Engine } from '../../../src/warehouse/engine.ts'
import { temporaryFolder } from '../../support/captured-world.ts'
import { resourceOf, rulesWarehouse } from '../../support/rules-warehouse.ts'
import { rulesTasks } from '../rules-task.ts'

const warehouse = rulesWarehouse()
const { task: newTask } = rulesTasks(warehouse, 'dim_site')
const sites = resourceOf('sites')
const folder = temporaryFolder()

const pages = (count: number): LandedPage[] =>
  Array.from({ length: count }, (_, number) => {
    const file = join(folder, `${number}.json`)
    const bytes = Buffer.from(JSON.stringify({ data: [{ id: `s${number}` }] }))
    writeFileSync(file, bytes)
    const facts = { sequence: number, page: 1, fetchedAt: '2026-11-02T09:00:00.000Z', runId: 'this' }
    return { file, bytes: bytes.length, ...facts }
  })

async function begin() {
  const task = await newTask(sites, () => ({}))
  const log: string[] = []
  const stored = async (engine: Engine): Promise<string> => {
    const [row] = await engine.rows<{ n: number }>('select count(*) as n from star.dim_site')
    return `${Number(row?.n)} rows`
  }
  const landing = {
    noteLoaded: async (noted: readonly LandedPage[]) => void log.push(`noted ${noted.length}`),
  }
  const sync = { ...task.sync, landing, emit: () => undefined } as unknown as ResourceTask['sync']
  const pipeline = new TaskPipeline({ ...task, sync })
  const run = async () => (await warehouse.rows('select records_read, rows_inserted from ops.run'))[0]
  const load = async (count: number, fails?: () => Error | undefined) => {
    await pipeline.load({
      pages: pages(count),
      rows: 'data',
      writeScan: async connection => {
        const error = fails?.()
        if (error) throw error
        log.push(`scan after ${await stored(connection)}`)
      },
    })
    await pipeline.drained()
  }
  return { task, log, sync, pipeline, run, load }
}

const once = (error: Error) => {
  let left = 1
  return () => (left-- > 0 ? error : undefined)
}

describe('a batch', () => {
  test('commits its rows, then its scan, then the note in the landing', async () => {
    const { task, log, load, run } = await begin()
    await load(2)
    expect(log).toEqual(['scan after 2 rows', 'noted 2'])
    expect(await run()).toMatchObject({ records_read: 2, rows_inserted: 2 })
    expect(task.counters).toMatchObject({ records_read: 2, rows_inserted: 2 })
  })

  test('in parts writes its scan with the last, and counts each record once', async () => {
    const { task, log, load, run } = await begin()
    await load(3, once(new OutOfMemory({ what: 'too many rows', next: 'take fewer' })))
    expect(log).toEqual(['scan after 3 rows', 'noted 3'])
    expect(await run()).toMatchObject({ records_read: 3, rows_inserted: 3 })
    expect(task.counters).toMatchObject({ records_read: 3, rows_inserted: 3 })
  })

  test('of a task that lost its lease writes nothing, and the landing hears nothing', async () => {
    const { task, log, load, run } = await begin()
    await warehouse.rows('update ops.lease set epoch = epoch + 1')
    await expect(load(2)).rejects.toBeInstanceOf(Busy)
    expect(log).toEqual(['scan after 2 rows'])
    expect(await warehouse.rows('select * from star.dim_site')).toEqual([])
    expect(await run()).toMatchObject({ records_read: 0 })
    expect(task.counters.records_read).toBe(0)
  })

  test('whose scan cannot be written counts nothing', async () => {
    const { task, load } = await begin()
    await expect(load(1, () => new Error('no'))).rejects.toThrow('no')
    expect(task.counters.records_read).toBe(0)
  })
})

describe('records that change nothing', () => {
  test.each([
    ['count as unchanged where the scan is written', true, 4],
    ['count as nothing where they have to be loaded after all', false, 0],
  ])('%s', async (...[, isWritten, counted]) => {
    const { task, pipeline } = await begin()
    expect(await pipeline.loadNothing(4, async () => isWritten)).toBe(isWritten)
    expect(task.counters).toMatchObject({ records_read: counted, records_unchanged: counted })
  })

  test('are not written by a task that lost its lease', async () => {
    const { task, pipeline } = await begin()
    await warehouse.rows('update ops.lease set epoch = epoch + 1')
    await expect(pipeline.loadNothing(4, async () => true)).rejects.toBeInstanceOf(Busy)
    expect(task.counters.records_read).toBe(0)
  })
})

test('requests of seconds that may still grow are kept, the others are written once', async () => {
  const { sync, load } = await begin()
  sync.sent.set(10, 2).set(11, 3)
  await load(1)
  expect([...sync.sent]).toEqual([[11, 3]])
  expect(await warehouse.rows('select * from ops.sent order by second')).toEqual([
    { second: 10, requests: 2 },
    { second: 11, requests: 3 },
  ])
})
