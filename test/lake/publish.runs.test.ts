/** A lake holds the rows of the warehouse; a publication writes what changed, and survives conflicts and kills. */
import { copyFileSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { filesOf } from '../../src/lake/actions.ts'
import { checkLake } from '../../src/lake/check.ts'
import { columnsIn } from '../../src/lake/columns.ts'
import { readLog } from '../../src/lake/log.ts'
import { lastSnapshot, snapshotRuns } from '../../src/lake/snapshots.ts'
import type { LakeStore } from '../../src/lake/store.ts'
import { removeHistory, retentionStart, vacuumLake } from '../../src/lake/vacuum.ts'
import { newRunId, recordRun } from '../../src/state/runs/runs.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { templateFile } from '../support/warehouse-fixture.ts'
import { folderLake, lakeClock, lakeFolder, passDays, publishTo, storeWith } from './lake-of.ts'

const folder = mkdtempSync(join(tmpdir(), 'muster-lake-warehouse-'))
let engine: Engine

/** A migrated warehouse with three relations in mart, as few as show every case. */
beforeAll(async () => {
  const file = join(folder, 'w.duckdb')
  copyFileSync(await templateFile(), file)
  engine = await openDuckdb(file)
  await recordRun(engine, {
    runId: newRunId(lakeClock, () => 0.5),
    command: 'sync',
    arguments: '',
    startedAt: new Date(lakeClock.now()).toISOString(),
    version: 'test',
  })
  // An id for each hour of 300, from January to February 2026.
  await engine.run(`create table mart.fact_shift as
    select printf('%08x', 1768600000 + i * 14400) || '00000000' || printf('%08x', i) as shift_id,
      'SH-' || i as reference, cast(i / 7.0 as decimal(18, 4)) as pay, i % 2 = 0 as is_paid,
      timestamptz '2026-01-01 00:00:00.123456Z' + i * interval '1 hour' as starts_at,
      date '2026-01-01' + cast(i as integer) as day, cast(i as hugeint) as large, [i] as several, time '12:00' as at,
      case when i > 5 then i end as some, 'run' as run_id
    from range(300) as r(i)`)
  await engine.run(
    `create table mart.dim_place as select 'p-' || i as place_id, 'Place ' || i as name from range(50) as r(i)`,
  )
  await engine.run('create view mart.paid as select shift_id, pay from mart.fact_shift where is_paid')
  await engine.run(`comment on table mart.fact_shift is 'Shifts that were worked.'`)
  await engine.run(`comment on column mart.fact_shift.pay is 'What is paid.'`)
})

afterAll(async () => {
  await engine?.close()
  rmSync(folder, { recursive: true, force: true })
})

const few = { schemas: ['mart'] } as const

const contextOf = (store: LakeStore) => ({ store, stage: engine.stage, clock: lakeClock })

/** Number of rows in which a table and its files differ. */
async function differing(store: LakeStore, table: string, connection = 'acme'): Promise<number> {
  const state = await readLog(contextOf(store), table)
  const files = filesOf(state, connection).map(({ path }) => `'${store.where}/${table}/${path}'`)
  const name = table.replace('/', '.')
  const read = (from: string) => `select cast(columns(*) as varchar) from ${from}`
  const own = read(name)
  const stored = read(`read_parquet([${files.join()}], hive_partitioning = false)`)
  const [row] = await engine.rows<{ n: number }>(
    `select count(*) as n from ((${own} except all ${stored}) union all (${stored} except all ${own}))`,
  )
  return Number(row?.n)
}

const change = (note: string) =>
  engine.run(
    `update mart.fact_shift set reference = '${note}' where shift_id = (select max(shift_id) from mart.fact_shift)`,
  )

/** Bytes of all files below, by their path. */
const filesIn = (folder: string): Map<string, number> =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => [join(entry.parentPath, entry.name), statSync(join(entry.parentPath, entry.name)).size]),
  )

const damageIn = async (store: LakeStore) => {
  const snapshot = await lastSnapshot(store, 'acme')
  if (!snapshot) throw new Error('nothing was published')
  return checkLake(contextOf(store), snapshot)
}

test('every table and view is in the lake, with its types and comments', async () => {
  const store = folderLake()
  const { isNew, snapshot } = await publishTo(store, engine, few)
  expect(isNew).toBe(true)
  expect(Object.entries(snapshot.tables).map(([name, { rows }]) => [name, rows])).toEqual([
    ['mart.dim_place', 50],
    ['mart.fact_shift', 300],
    ['mart.paid', 150],
  ])
  expect(await differing(store, 'mart/dim_place')).toBe(0)
  expect(await differing(store, 'mart/paid')).toBe(0)
  const { metaData } = await readLog(contextOf(store), 'mart/fact_shift')
  expect(metaData?.description).toBe('Shifts that were worked.')
  expect(columnsIn(metaData?.schemaString ?? '').map(({ name, type }) => `${name} ${type}`)).toEqual([
    'shift_id string',
    'reference string',
    'pay decimal(18,4)',
    'is_paid boolean',
    'starts_at timestamp',
    'day date',
    'large decimal(38,0)',
    'several string',
    'at string',
    'some long',
    'run_id string',
  ])
})

test('of superseded versions, only the states of records are in the lake, and how they followed each other', async () => {
  const store = folderLake()
  await engine.run(`insert into history.fact_timesheet by name
    select '690000000000000000000001' as timesheet_id, 'TS-1' as reference, '690000000000000000000002' as worker_id, 'pending' as status,
      timestamptz '2026-10-01 00:00:00Z' as valid_from, timestamptz '2026-10-02 00:00:00Z' as valid_to`)
  const { snapshot } = await publishTo(store, engine, { schemas: ['history'] })
  await engine.run('delete from history.fact_timesheet')
  expect(Object.keys(snapshot.tables)).toEqual(
    ['assignment', 'credit_note', 'expense', 'invoice', 'requisition', 'timesheet'].map(
      name => `history.fact_${name}`,
    ),
  )
  const { metaData, files } = await readLog(contextOf(store), 'history/fact_timesheet')
  expect(columnsIn(metaData?.schemaString ?? '').map(({ name }) => name)).toEqual([
    'timesheet_id',
    'status',
    'company_id',
    'project_id',
    'agency_id',
    'valid_from',
  ])
  expect(snapshot.tables['history.fact_timesheet']).toMatchObject({ rows: 1, files: [...files.keys()] })
  expect(files.size).toBe(1)
}, 60_000)

describe('a publication', () => {
  test('without a change writes nothing; a changed row rewrites its part alone', async () => {
    const folder = lakeFolder()
    const store = folderLake(folder)
    await publishTo(store, engine, { ...few, maxRows: 60 })
    const before = filesIn(folder)
    expect(await publishTo(store, engine, { ...few, maxRows: 60 })).toMatchObject({
      isNew: false,
      filesWritten: 0,
    })
    expect(filesIn(folder)).toEqual(before)
    await change('TS-changed')
    expect(await publishTo(store, engine, { ...few, maxRows: 60 })).toMatchObject({
      isNew: true,
      filesWritten: 1,
    })
    expect(await differing(store, 'mart/fact_shift')).toBe(0)
    const state = await readLog(contextOf(store), 'mart/fact_shift')
    expect(state).toMatchObject({ version: 1, removed: { size: 1 } })
    expect(state.files.size).toBeGreaterThan(2)
  })

  test('of another connection leaves the rows of the first, and a conflict is tried again at every write', async () => {
    const store = folderLake()
    await publishTo(store, engine, few)
    let conflicts = 0
    // Another writer is faster with each first attempt.
    const contested = storeWith(store, {
      async create(key, content) {
        if (key.includes('_delta_log') && !(await store.get(key)) && conflicts < 5) {
          conflicts += 1
          const text = content.toString().split('\n')[0] ?? ''
          await store.create(key, Buffer.from(`${text.replace('"connection', '"x')}\n`))
        }
        return store.create(key, content)
      },
    })
    await publishTo(contested, engine, { ...few, connection: 'north' }).catch(error =>
      expect(String(error)).toMatch(/as acme/),
    )
    await publishTo(contested, engine, { ...few, connection: 'north', takesOver: true })
    expect(conflicts).toBe(5)
    expect(await differing(store, 'mart/fact_shift', 'north')).toBe(0)
    // The former name of the same warehouse is gone.
    expect(filesOf(await readLog(contextOf(store), 'mart/fact_shift'), 'acme')).toEqual([])
    expect(await snapshotRuns(store, 'acme')).toEqual([])
  })

  test('that was killed in the middle is completed by the next one', async () => {
    const store = folderLake()
    let commits = 0
    const dying = storeWith(store, {
      create(key, content) {
        if (key.includes('_delta_log')) commits += 1
        return commits === 2 ? Promise.reject(new Error('killed')) : store.create(key, content)
      },
    })
    await expect(publishTo(dying, engine, few)).rejects.toThrow('killed')
    expect(await lastSnapshot(store, 'acme')).toBeUndefined()
    const { snapshot } = await publishTo(store, engine, few)
    expect(await damageIn(store)).toEqual([])
    expect(snapshot.tables['mart.fact_shift']?.version).toBe(0)
  })
})

describe('a damaged lake', () => {
  test('names a missing file and an altered one; the next publication writes them again', async () => {
    const store = folderLake()
    await publishTo(store, engine, few)
    const [one] = [...(await readLog(contextOf(store), 'mart/fact_shift')).files.values()]
    const [other] = [...(await readLog(contextOf(store), 'mart/dim_place')).files.values()]
    rmSync(`${store.where}/mart/fact_shift/${one?.path}`)
    truncateSync(`${store.where}/mart/dim_place/${other?.path}`, 100)
    expect(await damageIn(store)).toMatchObject([
      { table: 'mart.dim_place', found: expect.stringContaining('not what muster wrote') },
      { table: 'mart.fact_shift', found: 'missing' },
    ])
    expect((await publishTo(store, engine, few)).filesWritten).toBe(2)
    expect(await damageIn(store)).toEqual([])
  })

  test.each([
    ['half a commit', '{"add":{"path":"conn', /cannot be read: it is damaged/],
    [
      'a newer protocol',
      '{"protocol":{"minReaderVersion":3,"minWriterVersion":7}}',
      /newer protocol for this table \(reader 3, writer 7\)/,
    ],
    [
      'a file of another program',
      '{"add":{"path":"connection=acme/x.parquet","partitionValues":{"connection":"acme"},"size":1,"modificationTime":1,"dataChange":true}}',
      /another program wrote/,
    ],
  ])('refuses %s in one line, and overwrites nothing', async (_, content, message) => {
    const store = folderLake()
    await publishTo(store, engine, few)
    await store.create('mart/fact_shift/_delta_log/00000000000000000001.json', Buffer.from(content))
    await change(`TS-${content.length}`)
    await expect(publishTo(store, engine, few)).rejects.toThrow(message)
    expect(await damageIn(store)).not.toEqual([])
    expect(await store.get('mart/fact_shift/_delta_log/00000000000000000001.json')).toEqual(
      Buffer.from(content),
    )
  })
})

test('a checkpoint every 20 commits lets vacuum remove what is older than the retention period', async () => {
  const folder = lakeFolder()
  const store = folderLake(folder)
  await publishTo(store, engine, few)
  for (let at = 0; at < 21; at += 1) {
    await change(`TS-${at}`)
    await publishTo(store, engine, few)
  }
  const log = `${folder}/mart/fact_shift/_delta_log/`
  expect(readdirSync(log)).toContain('00000000000000000020.checkpoint.parquet')
  passDays(31)
  const request = { ...contextOf(store), connection: 'acme', before: retentionStart(lakeClock.now(), 30) }
  expect(await vacuumLake(request)).toMatchObject({ files: 21, commits: 20, snapshots: 21 })
  expect(readdirSync(log)).not.toContain('00000000000000000019.json')
  expect(await differing(store, 'mart/fact_shift')).toBe(0)
  expect(await damageIn(store)).toEqual([])
  // Forgetting a person removes every earlier version at once.
  await change('TS-forgotten')
  await publishTo(store, engine, few)
  expect(await removeHistory({ ...contextOf(store), connection: 'acme' })).toMatchObject({ files: 1 })
  expect(filesOf(await readLog(contextOf(store), 'mart/fact_shift'), 'acme')).toHaveLength(1)
  expect(await damageIn(store)).toEqual([])
})
