/** A server that does not let the receiver insert: nothing is acknowledged, until it does again. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { tableStore } from '../../src/events/store.ts'
import { openPostgres } from '../../src/warehouse/postgres/open.ts'
import { useEngines } from '../support/warehouse-fixture.ts'
import { eventBody, post, served, signed } from './served.ts'

describe('a role without the right to insert', () => {
  const made = useEngines()

  test('is answered 503, and every event acknowledged before or after is stored', async () => {
    const { engine, ...warehouse } = await made.postgres()
    const role = `muster_writer_${process.pid}`
    await engine.run(`create role ${role} login password 'for this test'`)
    await engine.run(`grant usage on schema ops to ${role}; grant select on ops.inbox to ${role}`)
    const url = new URL(warehouse.address)
    Object.assign(url, { username: role, password: 'for this test' })
    const scratch = mkdtempSync(join(tmpdir(), 'muster-test-'))
    const running = await served(
      { ...warehouse, engine },
      {
        intervals: { quietMs: 600_000, latestMs: 600_000 },
        store: async (own, { stage }) => {
          await own.close()
          return tableStore(await openPostgres({ url: url.href, shown: 'as a role' }, { scratch, stage }))
        },
      },
    )
    const send = (id: string) => post(running.url, signed(eventBody(id)))
    const health = async () => (await fetch(running.health)).status
    expect([await send('evt_1'), await health()]).toEqual([503, 503])
    await engine.run(`grant insert on ops.inbox to ${role}`)
    expect([await send('evt_1'), await send('evt_2')]).toEqual([202, 202])
    await expect.poll(health).toBe(200)
    await engine.run(`revoke insert on ops.inbox from ${role}`)
    // The second is known to be held, and costs no write.
    expect([await send('evt_3'), await send('evt_2'), await send('evt_3')]).toEqual([503, 202, 503])
    await running.stop()
    expect(await engine.rows('select event_id, deliveries as n from ops.inbox order by 1')).toEqual([
      { event_id: 'evt_1', n: 1 },
      { event_id: 'evt_2', n: 2 },
    ])
    await engine.run(`drop owned by ${role}; drop role ${role}`)
  })
})
