/** A load looks for rows to remove only where there may be some: what is stored of a record is never there twice. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findResource } from '../../src/contract/catalogue.ts'
import type { Resource } from '../../src/contract/fields/resource.ts'
import { Pipeline } from '../../src/load/pipeline.ts'
import { stagePlan } from '../../src/load/read/plan.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { describeOnEngines, type Warehouse } from '../support/warehouse-fixture.ts'
import { mergeOnly } from './merge-only.ts'

let pages = 0

/** Of one run: its batches are loaded one after the other, and each is committed. */
function loaderOf({ engine, landing }: Warehouse, name: string) {
  const pipeline = new Pipeline({ engine, plan: stagePlan(findResource(name) as Resource) })
  return async (...records: object[]): Promise<void> => {
    mkdirSync(landing, { recursive: true })
    pages += 1
    const file = join(landing, `page-${pages}.json`)
    const body = JSON.stringify({ success: true, data: records })
    writeFileSync(file, body)
    const fetchedAt = new Date(Date.UTC(2026, 10, 2, 9, pages)).toISOString()
    const page = { file, bytes: body.length, fetchedAt, runId: 'run-1', scope: {} }
    await pipeline.load({ pages: [page], rows: 'data' }, mergeOnly)
    await pipeline.drained()
  }
}

async function rowsOf(engine: Engine, table: string, column: string): Promise<string[]> {
  const rows = await engine.rows<{ id: string }>(
    `select ${column} as id from ${table} where ${column} <> '-1' order by 1`,
  )
  return rows.map(({ id }) => id)
}

const at = '2026-11-01T09:00:00.000Z'
const timelogs = (...ids: string[]) => ids.map(id => ({ id, start: at }))

describeOnEngines('rows to remove', bench => {
  test('an inferred member that comes between two batches of new records is replaced by its record', async () => {
    const warehouse = await bench.warehouse()
    const { engine } = warehouse
    const users = loaderOf(warehouse, 'users')
    const expenses = loaderOf(warehouse, 'expenses')
    await users({ id: 'u1', name: 'Ada', updatedAt: at })
    await expenses({ id: 'e1', updatedAt: at, createdBy: { id: 'u2', name: 'Grace' } })
    const inferred = "select user_id from star.dim_user where is_inferred and user_id <> '-1'"
    expect(await engine.rows(inferred)).toEqual([{ user_id: 'u2' }])
    await users({ id: 'u2', name: 'Grace Hopper', updatedAt: at })
    expect(await rowsOf(engine, 'star.dim_user', 'user_id')).toEqual(['u1', 'u2'])
    expect(await rowsOf(engine, 'pii."user"', 'user_id')).toEqual(['u1', 'u2'])
    const names = await engine.rows('select name from pii."user" order by user_id')
    expect(names).toEqual([{ name: 'Ada' }, { name: 'Grace Hopper' }])
  })

  test('rows that a batch of the same run has written are replaced, and those left of a removed record go', async () => {
    const warehouse = await bench.warehouse()
    const { engine } = warehouse
    const load = loaderOf(warehouse, 'timesheets')
    await load({ id: 't1', updatedAt: at, timelogs: timelogs('l1', 'l2') })
    await load({ id: 't2', updatedAt: at, timelogs: timelogs('l3') })
    await load({ id: 't1', updatedAt: '2026-11-01T10:00:00.000Z', timelogs: timelogs('l2') })
    expect(await rowsOf(engine, 'star.fact_timelog', 'timelog_id')).toEqual(['l2', 'l3'])
    await engine.run(`delete from star.fact_timesheet where timesheet_id = 't2'`)
    await loaderOf(warehouse, 'timesheets')({ id: 't2', updatedAt: at, timelogs: timelogs('l4') })
    expect(await rowsOf(engine, 'star.fact_timelog', 'timelog_id')).toEqual(['l2', 'l4'])
  })
})
