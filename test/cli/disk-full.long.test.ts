/** A disk that is full, for real: one line says so, and when there is room again one more sync makes up for it. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import type { Sandbox } from '../../src/sandbox/server/sandbox.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import { keptSandbox } from '../sandbox/open-sandbox.ts'
import { builtProgram, canMount, type Ended, SmallDisk } from '../support/small-disk.ts'
import { type Dump, tables } from '../support/warehouse-dump.ts'

/** Room for everything. */
const plenty = 65_536

let sandbox: Sandbox
let undisturbed: Dump
const disks: SmallDisk[] = []

function disk(kilobytes: number): SmallDisk {
  const env = { MUSTER_BASE_URL: sandbox.url, MUSTER_API_KEY: sandboxKeys.company }
  disks.push(new SmallDisk(kilobytes, env))
  return disks.at(-1)!
}

async function contentOf(file: string): Promise<Dump> {
  const engine = await openDuckdb(file)
  try {
    return await tables(engine)
  } finally {
    await engine.close()
  }
}

const sync = 'sync --quiet timesheets invoices access-rules'

function expectOneLine({ code, err }: Ended, where: string): void {
  expect([code, err.split('\n').length]).toEqual([1, 2])
  expect(err).toContain('muster: the disk is full')
  expect(err).toContain(where)
  expect(err).toMatch(/\): (keep the log beside the file, )?free some space,? and run the command again/)
}

beforeAll(async () => {
  sandbox = await keptSandbox({ scale: 0.02, rateLimitPerMinute: 100_000 })
})

afterAll(async () => {
  await Promise.all(disks.map(one => one.close()))
})

const skipped = canMount() ? '' : ' (skipped: this system does not let its users mount a small disk)'

describe.skipIf(skipped !== '')(`a full disk${skipped}`, () => {
  let large: SmallDisk

  beforeAll(async () => {
    large = disk(plenty)
    expect(await large.muster(sync)).toMatchObject({ code: 0, err: '' })
    undisturbed = await contentOf(await large.copyOut('w.duckdb'))
  })

  test('where the warehouse file is', async () => {
    const small = disk(1500)
    const landing = join(small.besides, 'landing')
    expectOneLine(await small.muster(sync, { landing }), 'w.duckdb')
    await small.resize(plenty)
    expect(await small.muster(sync, { landing })).toMatchObject({ code: 0, err: '' })
    expect(await contentOf(await small.copyOut('w.duckdb'))).toEqual(undisturbed)
  })

  test('that holds the log of the warehouse and not its checkpoint: the next command makes up for it', async () => {
    const small = disk(2500)
    const landing = join(small.besides, 'landing')
    const { code, err } = await small.muster(sync, { landing })
    expect(code).toBe(1)
    expect(err).toMatch(
      /^muster: the disk is full: what was committed is in its log only \(.*\.wal\): keep[^\n]*\n$/,
    )
    expect((await small.shell(`ls ${small.folder}`)).out).toContain('w.duckdb.wal')
    await small.resize(plenty)
    expect(await small.muster(sync, { landing })).toMatchObject({ code: 0, err: '' })
    expect(await contentOf(await small.copyOut('w.duckdb'))).toEqual(undisturbed)
  })

  test('where the pages land: nothing more is asked for, and no half page stays', async () => {
    const small = disk(64)
    const warehouse = join(small.besides, 'w.duckdb')
    const before = sandbox.requests.length
    expectOneLine(await small.muster(sync, { warehouse }), 'w.landing')
    expect(sandbox.requests.slice(before).map(({ path }) => path)).not.toContain('/access-rule-mappings')
    expect((await small.shell(`find ${small.folder} -name '*.part' -o -name '.muster-*'`)).out).toBe('')
    await small.resize(plenty)
    expect(await small.muster(sync, { warehouse })).toMatchObject({ code: 0, err: '' })
    expect(await contentOf(warehouse)).toEqual(undisturbed)
  })

  test('where a replay writes its draft: nothing is said to be kept of it, and it is gone', async () => {
    const small = disk(plenty)
    expect((await small.muster(sync)).code).toBe(0)
    await small.resize((await small.used()) + 1500)
    const { code, err } = await small.muster('replay --quiet')
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/^muster: the disk is full \([^\n]*\): free some space[^\n]*\n$/),
    ])
    expect((await small.shell(`ls -a ${small.folder}`)).out).not.toContain('draft')
    await small.resize(plenty)
    expect((await small.muster('replay --quiet')).code).toBe(0)
  })

  test('that a run fills up to the reserve: the run ends well and warns, and the next one does not begin', async () => {
    const small = disk(plenty)
    const reserve = 'env MUSTER_RESERVE_MEGABYTES=60'
    const places = `MUSTER_WAREHOUSE=duckdb:${small.folder}/w.duckdb MUSTER_LANDING=${small.folder}/w.landing`
    const line = `${reserve} ${places} ${process.execPath} ${builtProgram} sync timesheets invoices access-rules`
    const first = await small.shell(line)
    expect([first.code, first.err]).toEqual([0, expect.stringMatching(/warning: only \d+ MB are free in /)])
    expect(await small.shell(line)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^muster: the disk is almost full: /),
    })
  })

  test('where the published copy is: the previous copy stays until the next one replaces it', async () => {
    const rows = `sql --json "select count(*) as n from star.fact_timesheet"`
    const copy = { warehouse: join(large.folder, 'w.published.duckdb') }
    expect((await large.muster('publish')).code).toBe(0)
    await large.resize((await large.used()) + 1024)
    expectOneLine(await large.muster('publish'), 'w.duckdb')
    expect((await large.shell(`ls ${large.folder}`)).out).not.toContain('writing')
    expect(JSON.parse((await large.muster(rows, copy)).out)[0].n).toBeGreaterThan(0)
    await large.resize(plenty)
    expect(await large.muster('publish')).toMatchObject({ code: 0, err: '' })
    const states = JSON.parse((await large.muster('runs --json')).out).map(
      ({ state }: { state: string }) => state,
    )
    expect(states).toEqual(['done', 'failed', 'done', 'done'])
  })
})
