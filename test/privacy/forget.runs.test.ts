/** A person who is forgotten is nowhere any more; facts and sums stay; neither a replay nor a sync brings the person back. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { replay } from '../../src/app/rebuild/replay.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { defaultLimits } from '../../src/load/page/record-limits.ts'
import { forget } from '../../src/privacy/forget.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { tables } from '../support/warehouse-dump.ts'
import { describeOnEngines, syncOnce, type Warehouse } from '../support/warehouse-fixture.ts'

const request = {
  resources: ['users', 'timesheets', 'expenses', 'metric-rows', 'requisitions', 'assignments'],
}

/** Text of every cell and landed page that is no archive. */
async function everything({ engine, landing }: Warehouse): Promise<string> {
  const files = readdirSync(landing, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.endsWith('.json'))
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'))
  const quarantine = await engine.rows('select * from ops.quarantine')
  return JSON.stringify(await tables(engine)) + JSON.stringify(quarantine) + files.join()
}

const sums = (engine: Engine) =>
  engine.rows(`select (select sum(net_hours) from star.fact_timesheet) as hours,
    (select count(*) from star.fact_timesheet) as sheets, (select count(*) from star.fact_submission) as submissions,
    (select sum(description_length) from star.fact_expense) as words, (select count(*) from star.dim_worker) as workers,
    (select count(*) from star.attribute_leaf) as leaves, (select count(*) from ops.quarantine) as quarantined`)

async function maxNamed(engine: Engine): Promise<{ id: string; name: string }> {
  const [row] = await engine.rows<{ id: string; name: string }>(
    `select w.worker_id as id, w.name from pii.worker w join star.fact_timesheet t using (worker_id)
     group by 1, 2 order by count(*) desc, 1 limit 1`,
  )
  return row!
}

const around = (engine: Engine) => ({ engine, clock: systemClock, signal: new AbortController().signal })
const ofWorker = (id: string, landing: string) => ({
  person: { kind: 'worker' as const, id },
  landing,
  allowsReturn: false,
  acceptLoss: false,
  isDry: false,
})

describeOnEngines('muster forget', bench => {
  test('leaves nothing of a worker but facts, and nothing brings the worker back', async () => {
    const sandbox = await openSandbox({ scale: 0.02, rateLimitPerDay: 1_000_000 })
    const warehouse = await bench.warehouse()
    await syncOnce(sandbox, warehouse, { request })
    const { engine, landing } = warehouse
    const { id, name } = await maxNamed(engine)
    const before = await sums(engine)
    expect(await everything(warehouse)).toContain(name)

    const held = await forget(around(engine), { ...ofWorker(id, landing), isDry: true })
    const overwritten = () => engine.rows(`select 1 from ops.write_count where name = 'every table'`)
    expect(await overwritten()).toEqual([])
    expect(held.rows).toMatchObject({ 'pii.worker': 1, 'pii.text': expect.any(Number) })
    expect(await everything(warehouse)).toContain(name)
    // Stopped in the middle: the hash is recorded, some pages are cleared, the tables are not.
    const stopping = {
      aborted: 0,
      throwIfAborted: () => {
        stopping.aborted += 1
        if (stopping.aborted > 3) throw new Error('stopped')
      },
    }
    await expect(
      forget({ ...around(engine), signal: stopping as unknown as AbortSignal }, ofWorker(id, landing)),
    ).rejects.toThrow('stopped')
    expect(await forget(around(engine), ofWorker(id, landing))).toMatchObject({ rows: held.rows })
    expect(await everything(warehouse)).not.toContain(name)
    expect(await sums(engine)).toEqual(before)
    expect(await overwritten()).toHaveLength(1)
    expect((await forget(around(engine), { ...ofWorker(id, landing), isDry: true })).rows).toEqual({})
    expect(JSON.stringify(await engine.rows('select * from ops.forgotten'))).not.toContain(id)

    // The service shows timesheets of the worker with a later time of change.
    const updatedAt = new Date(systemClock.now()).toISOString()
    for (const sheet of sandbox.world.all('timesheets')) {
      const worker = sheet.worker as { id?: string } | undefined
      if (worker?.id === id) sandbox.world.upsert('timesheets', { ...sheet, updatedAt })
    }
    await syncOnce(sandbox, warehouse, { request })
    expect(await everything(warehouse)).not.toContain(name)
    expect(await sums(engine)).toEqual(before)

    const rebuilt = await bench.warehouse()
    await replay(rebuilt.engine, { root: landing, limits: defaultLimits }, () => undefined)
    expect(JSON.stringify(await tables(rebuilt.engine))).not.toContain(name)
    expect(await sums(rebuilt.engine)).toEqual(before)
  })
})
