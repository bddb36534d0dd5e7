/** A replay on a server keeps others away; one that was stopped and lost its leases changes nothing when it wakes up. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sandboxKeys } from '../../../src/sandbox/keys/default-keys.ts'
import { keptSandbox } from '../../sandbox/open-sandbox.ts'
import { type Built, start, stopWhen } from '../../support/built-program.ts'
import { temporaryFolder } from '../../support/captured-world.ts'
import { thorough } from '../../support/long-suite.ts'
import { tables } from '../../support/warehouse-dump.ts'
import { syncOnce, useEngines, type Warehouse } from '../../support/warehouse-fixture.ts'

const made = useEngines()
const request = { resources: ['timesheets', 'sites'] }

const sandboxOf = () => keptSandbox({ scale: 0.02, rateLimitPerMinute: 100_000 })

/** Of those that a replay has made all tables in: until then it may wait for a connection, which does not wait for it. */
async function drafts({ engine }: Warehouse): Promise<number> {
  const rows = await engine.rows(
    `select 1 from pg_catalog.pg_namespace n join pg_catalog.pg_class c on c.relnamespace = n.oid and relname = 'migration'
     where obj_description(n.oid, 'pg_namespace') like 'temporary schema of muster%'`,
  )
  return rows.length
}

async function stateOf({ engine }: Warehouse): Promise<unknown> {
  return [
    await tables(engine),
    await engine.rows('select * from ops.watermark order by resource'),
    await engine.rows('select * from ops.scan order by scan_id'),
  ]
}

const run = (warehouse: Warehouse, url: string, line: string): Built =>
  start(line, {
    cwd: temporaryFolder(),
    env: {
      MUSTER_BASE_URL: url,
      MUSTER_API_KEY: sandboxKeys.company,
      MUSTER_WAREHOUSE: warehouse.address,
      MUSTER_LANDING: warehouse.landing,
    },
  })

const refused = (what: string) => expect.stringMatching(new RegExp(`muster: [^\\n]*${what}[^\\n]*\\n$`))

test.runIf(thorough)(
  'what comes while a replay is under way is refused, and the replay loses nothing',
  async () => {
    const { url } = await sandboxOf()
    const warehouse = await made.postgres()
    await syncOnce({ url }, warehouse, { request })
    // A schema of that name that somebody else made.
    await warehouse.engine.run('create schema replay_star')
    const before = await stateOf(warehouse)
    const replay = run(warehouse, url, 'replay --quiet')
    await stopWhen(replay, async () => (await drafts(warehouse)) > 0)
    const holder = 'is being (written|synced|built) by replay-'
    expect(await run(warehouse, url, 'replay --quiet').ended).toMatchObject({
      code: 75,
      err: refused(holder),
    })
    expect(await run(warehouse, url, 'build').ended).toMatchObject({ code: 75, err: refused(holder) })
    const sync = await run(warehouse, url, 'sync timesheets --quiet').ended
    expect(sync).toMatchObject({ code: 75, err: refused(holder) })
    const [worker] = await warehouse.engine.rows<{ id: string }>(
      `select worker_id as id from pii.worker where name is not null limit 1`,
    )
    // Else the replay would bring back the person from pages that it has read.
    expect(await run(warehouse, url, `forget worker ${worker?.id} --yes`).ended).toMatchObject({
      code: 75,
      err: refused(holder),
    })
    replay.signal('SIGCONT')
    expect(await replay.ended).toMatchObject({ code: 0, err: '' })
    expect(await stateOf(warehouse)).toEqual(before)
    expect(await drafts(warehouse)).toBe(0)
    expect(await warehouse.engine.rows(`select to_regnamespace('replay_star') as found`)).toEqual([
      { found: 'replay_star' },
    ])
  },
)

test.runIf(thorough)(
  'a replay that was stopped until its leases were over writes nothing afterwards',
  async () => {
    const { url } = await sandboxOf()
    const warehouse = await made.postgres()
    await syncOnce({ url }, warehouse, { request })
    const replay = run(warehouse, url, 'replay --quiet --accept-loss')
    await stopWhen(replay, async () => (await drafts(warehouse)) > 0)
    await warehouse.engine.run(`update ops.lease set expires_at = clock_timestamp() - interval '1 second'`)
    const elsewhere = join(temporaryFolder(), 'landing')
    const sync = run({ ...warehouse, landing: elsewhere }, url, 'sync projects users --quiet')
    expect(await sync.ended).toMatchObject({ code: 0, err: '' })
    const before = await stateOf(warehouse)
    replay.signal('SIGCONT')
    const { code, err } = await replay.ended
    expect(err).toMatch(/muster: [^\n]*(taken over|was lost|changed while it was rebuilt)[^\n]*\n$/)
    expect(code).not.toBe(0)
    expect(await stateOf(warehouse)).toEqual(before)
    expect(await run(warehouse, url, 'replay --quiet --accept-loss').ended).toMatchObject({
      code: 0,
      err: '',
    })
    expect(await drafts(warehouse)).toBe(0)
  },
)
