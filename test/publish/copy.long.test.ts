/** A warehouse moved from one engine to the other: nothing is lost, and the next sync reads only what changed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { migrate } from '../../src/state/migrate.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { type OpenSandbox, openSandbox } from '../sandbox/open-sandbox.ts'
import { muster, temporaryFolder } from '../support/captured-world.ts'
import { expectSameRows, syncBoth } from '../support/compared-warehouses.ts'
import { onServer } from '../support/postgres-database.ts'
import { rowsTouched, syncOnce, useEngines, type Warehouse } from '../support/warehouse-fixture.ts'
import { program } from '../warehouse/postgres/sync-process.ts'

const engines = useEngines()

const copy = (from: string, to: string, cwd = temporaryFolder()) =>
  muster(`copy --from ${from} --to ${to}`, { clock: systemClock, cwd })

const fileOf = ({ address }: Warehouse): string => address.replace('duckdb:', '')

/** Tables of ops that belong to where they are. */
const stays = ['migration', 'lease', 'request_budget', 'mart']

interface Column {
  readonly at: string
  readonly name: string
  readonly type: string
}

/** Columns of each table of ops that a copy takes along. */
async function ledger(engine: Engine): Promise<Map<string, Column[]>> {
  const columns = await engine.rows<Column>(
    `select c.table_name as at, column_name as name, data_type as type from information_schema.columns c
     join information_schema.tables t on t.table_catalog = c.table_catalog and t.table_schema = c.table_schema and t.table_name = c.table_name
     where c.table_catalog = current_database() and c.table_schema = 'ops' and table_type = 'BASE TABLE' order by column_name`,
  )
  const tables = new Map<string, Column[]>()
  for (const column of columns)
    if (!stays.includes(column.at)) tables.set(column.at, [...(tables.get(column.at) ?? []), column])
  return tables
}

const sample = (type: string): string =>
  /timestamp/i.test(type)
    ? `timestamptz '2026-01-02T03:04:05.678Z'`
    : /bool/i.test(type)
      ? 'true'
      : /int|double/i.test(type)
        ? '7'
        : /date/i.test(type)
          ? `date '2026-01-02'`
          : `'it''s, "a" row'`

/** Every table of the ledger holds something: what no sync of the sandbox brings, a made row stands for. */
async function fillLedger(engine: Engine): Promise<void> {
  for (const [table, columns] of await ledger(engine)) {
    const [row] = await engine.rows(`select 1 from ops."${table}" limit 1`)
    const names = columns.map(({ name }) => `"${name}"`).join(', ')
    if (row) continue
    await engine.run(
      `insert into ops."${table}" (${names}) values (${columns.map(({ type }) => sample(type)).join(', ')})`,
    )
  }
}

async function ledgerRows(engine: Engine): Promise<Record<string, string[]>> {
  const held: Record<string, string[]> = {}
  for (const [table, columns] of await ledger(engine)) {
    const names = columns.map(({ name }) => `"${name}"`).join(', ')
    const rows = await engine.rows(`select ${names} from ops."${table}"`)
    held[table] = rows.map(row => JSON.stringify(row)).sort()
  }
  return held
}

/** Of a sync right after the copy. */
async function expectNothingToDo(sandbox: OpenSandbox, warehouse: Warehouse): Promise<number> {
  const { failure, requests, ...outcome } = await syncOnce(sandbox, warehouse)
  expect(failure).toBeUndefined()
  expect(rowsTouched({ ...outcome, requests })).toBe(0)
  return requests
}

test('from a file to a server and back to a file; each goes on without a backfill', async () => {
  const sandbox = await openSandbox({ scale: 0.01, rateLimitPerDay: 1_000_000 })
  const [first, server, last] = [await engines.duckdb(), await engines.postgres(), await engines.duckdb()]
  await syncBoth(sandbox, [first], 40)
  await fillLedger(first.engine)
  const before = await ledgerRows(first.engine)
  expect(Object.entries(before).filter(([, rows]) => rows.length === 0)).toEqual([])
  await first.close()
  const cwd = temporaryFolder()
  const moved = await copy(first.address, server.address, cwd)
  expect(moved).toMatchObject({
    code: 0,
    out: expect.stringMatching(/the same number in both; the landed pages stay/),
  })
  expect(moved.out + moved.err).not.toContain('only%20for')
  await last.close()
  expect(await copy(server.address, last.address, cwd)).toMatchObject({ code: 0 })
  expect(readdirSync(cwd)).toEqual([])
  await first.open()
  await last.open()
  expect(await expectSameRows(first.engine, server.engine)).toBeGreaterThan(1_000)
  await expectSameRows(first.engine, last.engine)
  expect(await ledgerRows(server.engine)).toEqual(before)
  expect(await ledgerRows(last.engine)).toEqual(before)
  const usual = await expectNothingToDo(sandbox, first)
  expect(await expectNothingToDo(sandbox, server)).toBe(usual)
  expect(await expectNothingToDo(sandbox, last)).toBe(usual)
}, 180_000)

test('a refused copy changes nothing', async () => {
  const [full, server, file] = [await engines.duckdb(), await engines.postgres(), await engines.duckdb()]
  const run = `insert into ops.run (run_id, command, arguments, state, started_at, requests, retries, records_read,
    rows_inserted, rows_changed, rows_removed, records_unchanged, quarantined, program_version)
    values ('r', 'sync', '', 'done', now(), 0, 0, 0, 0, 0, 0, 0, 0, '0')`
  await full.engine.run(run)
  await full.close()
  await file.close()
  const refused = async (from: string, to: string, expected: RegExp): Promise<void> =>
    expect(await copy(from, to)).toMatchObject({ out: '', err: expect.stringMatching(expected) })

  await refused(full.address, full.address, /name the same warehouse/)
  await refused(server.address, full.address, /target already has rows: 1 in ops.run .*nothing was changed/)
  await refused('duckdb:none.duckdb', file.address, /there is no warehouse file/)
  const bare = join(temporaryFolder(), 'bare.duckdb')
  const other = await openDuckdb(bare)
  await other.run('create table mine (n integer)')
  await other.close()
  await refused(`duckdb:${bare}`, server.address, /the warehouse to copy has no synced data/)
  await refused(
    server.address,
    `duckdb:${bare}`,
    /has a table that does not belong to a warehouse: main.mine/,
  )
  expect(readdirSync(join(bare, '..'))).toEqual(['bare.duckdb'])

  const inbox = fileOf(full).replace('.duckdb', '.inbox')
  mkdirSync(inbox)
  writeFileSync(join(inbox, '000000000001.ndjson'), '')
  await refused(
    full.address,
    server.address,
    /the log beside the warehouse has events that are not loaded yet.*muster serve/,
  )
  rmSync(inbox, { recursive: true })

  await full.open()
  await full.engine.run(`update ops.migration set checksum = '99.0.0' where name = 'program'`)
  await full.engine.run(`update ops.migration set checksum = 'other' where name = 'structure'`)
  await full.close()
  await refused(full.address, server.address, /made by muster 99.0.0, which is later.*install muster 99.0.0/)
  await refused(file.address, full.address, /target already has rows/)
  await server.engine.run(run)
  await refused(file.address, server.address, /target already has rows.*nothing was changed/)
  await server.engine.run('delete from ops.run')
  await server.engine.run(`update ops.migration set checksum = '99.0.0' where name = 'program'`)
  await server.engine.run(`update ops.migration set checksum = 'other' where name = 'structure'`)
  await refused(file.address, server.address, /made by muster 99.0.0, which is later than this one/)
  await server.engine.run('drop table ops.migration')
  await refused(server.address, file.address, /the warehouse to copy has no synced data/)
}, 60_000)

/** Kills the copy when it tells of timesheets. */
async function killedCopy(from: string, to: string, cwd: string): Promise<void> {
  const child = spawn(process.execPath, [program, 'copy', '--from', from, '--to', to], {
    cwd,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const told = 'star.fact_timesheet:'
  let err = ''
  child.stderr.on('data', data => {
    err += data
    if (err.includes(told)) child.kill('SIGKILL')
  })
  const [code, signal] = await once(child, 'close')
  expect([code, signal, err.includes(told)]).toEqual([null, 'SIGKILL', true])
}

test('a copy that is killed leaves nothing visible, and the next one completes', async () => {
  const sandbox = await openSandbox({ scale: 0.01, rateLimitPerDay: 1_000_000 })
  const [first, server] = [await engines.duckdb(), await engines.postgres()]
  await syncOnce(sandbox, first, { request: { resources: ['timesheets', 'users'] } })
  await first.close()
  const cwd = temporaryFolder()
  await killedCopy(first.address, server.address, cwd)
  expect(await server.engine.rows('select 1 from star.fact_timesheet')).toEqual([])
  const database = new URL(server.address).pathname.slice(1)
  const others = `select 1 from pg_stat_activity where datname = '${database}' and state = 'idle in transaction'`
  await expect.poll(() => onServer(others)).toEqual([])
  expect(await copy(first.address, server.address, cwd)).toMatchObject({ code: 0 })

  const last = join(cwd, 'last.duckdb')
  await killedCopy(server.address, `duckdb:${last}`, cwd)
  const empty = await openDuckdb(last)
  await migrate(empty, new Date().toISOString())
  expect(await empty.rows('select 1 from star.fact_timesheet')).toEqual([])
  await empty.close()
  expect(await copy(server.address, `duckdb:${last}`, cwd)).toMatchObject({ code: 0 })
  expect(readdirSync(cwd)).toEqual(['last.duckdb'])
  await first.open()
  const whole = await openDuckdb(last)
  await expectSameRows(first.engine, server.engine)
  await expectSameRows(first.engine, whole)
  await whole.close()
}, 120_000)
