/** What is back when `muster forget` searches again is not recorded as done: one line says where, and the next run finishes. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { keptSandbox } from '../sandbox/open-sandbox.ts'
import { captured, muster } from '../support/captured-world.ts'
import { describeOnEngines, syncOnce, type Warehouse } from '../support/warehouse-fixture.ts'

async function opened<Result>(warehouse: Warehouse, work: (engine: Engine) => Promise<Result>) {
  await warehouse.open()
  return work(warehouse.engine).finally(() => warehouse.close())
}

const states = (warehouse: Warehouse): Promise<string[]> =>
  opened(warehouse, async engine => {
    const rows = await engine.rows<{ state: string }>('select state from ops.forgotten')
    return rows.map(({ state }) => state)
  })

describeOnEngines(
  'a person who is back before forget ends',
  bench => {
    test('is named with the place, not recorded as done, and gone after the next run', async () => {
      const sandbox = await keptSandbox({ scale: 0.02, rateLimitPerMinute: 100_000 })
      const warehouse = await bench.warehouse()
      await syncOnce(sandbox, warehouse, { request: { resources: ['timesheets', 'sites'] } })
      const { engine, address, landing } = warehouse
      const [person] = await engine.rows<{ id: string; name: string }>(
        `select worker_id as id, name from pii.worker where name like '% %' order by 1 limit 1`,
      )
      const { id = '', name = '' } = person ?? {}
      if (bench.name === 'postgres') {
        await engine.run(
          `update star.dim_site set name = '${name}' where site_id = (select min(site_id) from star.dim_site where site_id <> '-1')`,
        )
        await engine.run(
          `create function public.back() returns trigger language plpgsql as 'begin new.name := old.name; return new; end'`,
        )
        await engine.run(
          'create trigger back before update on star.dim_site for each row execute function public.back()',
        )
      }
      await warehouse.close()
      const waiting = `${address.replace(/^duckdb:|\.duckdb$/g, '')}.inbox`
      const plant = (text: string): void => {
        if (bench.name !== 'duckdb' || !text.includes('again')) return
        mkdirSync(waiting, { recursive: true })
        writeFileSync(
          join(waiting, '000000000001.ndjson'),
          `${JSON.stringify({ payload: JSON.stringify({ note: name }) })}\n`,
        )
      }
      const env = {
        MUSTER_BASE_URL: sandbox.url,
        MUSTER_API_KEY: sandboxKeys.company,
        MUSTER_WAREHOUSE: address,
        MUSTER_LANDING: landing,
      }
      const world = captured()
      const stderr = {
        ...world.world.stderr,
        write: (text: string) => {
          plant(text)
          world.world.stderr.write(text)
        },
      }
      const first = await muster(`forget worker ${id} --yes`, { env, clock: systemClock, stderr })
      const place = bench.name === 'duckdb' ? '000000000001.ndjson' : 'star.dim_site \\(1\\)'
      expect(first.code).toBe(1)
      expect(world.err()).toMatch(
        new RegExp(
          `^muster: the person is still in [^\\n]*${place}[^\\n]*, so nothing is recorded as done`,
          'm',
        ),
      )
      expect(await states(warehouse)).toEqual(['begun'])
      if (bench.name === 'postgres')
        await opened(warehouse, engine => engine.run('drop trigger back on star.dim_site'))
      const second = await muster(`forget worker ${id} --yes --json`, { env, clock: systemClock })
      expect([second.code, second.err]).toEqual([0, expect.not.stringContaining('muster: ')])
      expect(await states(warehouse)).toEqual(['done'])
      const { unreachable } = JSON.parse(second.out) as { unreachable: { place: string; next: string }[] }
      expect(unreachable.map(({ place }) => place)).toEqual(
        bench.name === 'postgres'
          ? expect.arrayContaining([expect.stringContaining('pg_wal'), expect.stringContaining('backups')])
          : expect.arrayContaining([expect.stringContaining('backups'), expect.stringContaining('logs')]),
      )
      expect(unreachable.every(({ next }) => next !== '')).toBe(true)
    }, 120_000)
  },
  'all',
)
