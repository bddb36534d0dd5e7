/** The pipeline commits batches in order, tells one failure, and can be used again after it. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findResource } from '../../src/contract/catalogue.ts'
import type { Resource } from '../../src/contract/fields/resource.ts'
import { OutOfMemory } from '../../src/lib/errors.ts'
import type { LoadCounts } from '../../src/load/load-batch.ts'
import { Pipeline } from '../../src/load/pipeline.ts'
import type { PageFile } from '../../src/load/read/pages.ts'
import { stagePlan } from '../../src/load/read/plan.ts'
import { describeOnEngines, type Warehouse } from '../support/warehouse-fixture.ts'

const rowsAPage = 3

function landed({ landing }: Warehouse, number: number): PageFile {
  mkdirSync(landing, { recursive: true })
  const file = join(landing, `page-${number}.json`)
  const data = Array.from({ length: rowsAPage }, (_, row) => ({
    id: `t${number}-${row}`,
    updatedAt: '2026-11-01T09:00:00.000Z',
  }))
  const body = JSON.stringify({ success: true, data })
  writeFileSync(file, body)
  return { file, bytes: body.length, fetchedAt: '2026-11-02T09:00:00.000Z', runId: 'run-1', scope: {} }
}

/** A pipeline of timesheets; batches note their names in `order` when they commit. */
function pipelineOf(warehouse: Warehouse) {
  const order: string[] = []
  const committed: LoadCounts[] = []
  const pipeline = new Pipeline({
    engine: warehouse.engine,
    plan: stagePlan(findResource('timesheets') as Resource),
  })
  const load = (name: string, numbers: readonly number[], fails?: () => Error | undefined): Promise<void> => {
    const pages = numbers.map(number => landed(warehouse, number))
    return pipeline.load({ pages, rows: 'data' }, async (engine, { merge, isLast }) => {
      const loaded = await engine.merge(async connection => {
        const inserted = await merge(connection)
        const error = fails?.()
        if (error) throw error
        return inserted
      })
      order.push(isLast ? name : `part of ${name}`)
      committed.push(loaded)
    })
  }
  const stored = async () =>
    (
      await warehouse.engine.rows<{ id: string }>(
        'select timesheet_id as id from star.fact_timesheet order by 1',
      )
    ).map(({ id }) => id)
  return { pipeline, order, committed, load, stored }
}

const no = (what: string) => () => new Error(what)

describeOnEngines(
  'the pipeline',
  bench => {
    test('commits batches in the order in which they were handed over', async () => {
      const { pipeline, order, committed, load, stored } = pipelineOf(await bench.warehouse())
      for (const number of [1, 2, 3, 4, 5]) await load(`batch ${number}`, [number])
      await pipeline.drained()
      expect(order).toEqual([1, 2, 3, 4, 5].map(number => `batch ${number}`))
      expect(committed.map(({ inserted }) => inserted)).toEqual([3, 3, 3, 3, 3])
      expect(await stored()).toHaveLength(15)
    })

    test('waits when two batches are not committed yet', async () => {
      const { pipeline, order, load } = pipelineOf(await bench.warehouse())
      const waiting: number[] = []
      for (const number of [1, 2, 3, 4]) {
        await load(`batch ${number}`, [number])
        waiting.push(number - order.length)
      }
      await pipeline.drained()
      expect(Math.max(...waiting)).toBeLessThanOrEqual(2)
    })

    test('writes nothing after a failed batch, reports the failure once, and continues with the next load', async () => {
      const { pipeline, order, load, stored } = pipelineOf(await bench.warehouse())
      await load('first', [1])
      const later = async () => {
        await load('second', [2], no('the second failed'))
        await load('third', [3], no('the third failed'))
        await pipeline.drained()
      }
      await expect(later()).rejects.toThrow('the second failed')
      expect(pipeline.hasFailed).toBe(false)
      await pipeline.drained()
      await load('second again', [2])
      await pipeline.drained()
      expect(order).toEqual(['first', 'second again'])
      expect(await stored()).toHaveLength(6)
    })

    test('loads a batch that does not fit into memory in parts, each counted once', async () => {
      const { pipeline, order, committed, load, stored } = pipelineOf(await bench.warehouse())
      let failures = 2
      const tooLarge = () =>
        failures-- > 0 ? new OutOfMemory({ what: 'too many rows', next: 'take fewer' }) : undefined
      await load('large', [1, 2, 3, 4, 5], tooLarge)
      await load('next', [6])
      await pipeline.drained()
      const part = 'part of large'
      expect(order).toEqual([part, part, 'large', 'next'])
      expect(committed.map(({ records }) => records)).toEqual([6, 3, 6, 3])
      expect(await stored()).toHaveLength(18)
    })
  },
  'all',
)
