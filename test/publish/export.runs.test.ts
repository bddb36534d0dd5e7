/** An export reads back cell by cell on both engines, and is all or nothing. */
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seededRng } from '../../src/lib/rng.ts'
import { buildMarts } from '../../src/marts/build.ts'
import { readMarts } from '../../src/marts/mart.ts'
import { openGate } from '../../src/marts/rebuild.ts'
import { type ExportManifest, exportParquet } from '../../src/publish/export/export.ts'
import { publish } from '../../src/publish/publish.ts'
import { publishedFile } from '../../src/warehouse/duckdb/database-file.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { muster } from '../support/captured-world.ts'
import { filledAt, useFilled } from '../support/filled-warehouse.ts'
import { describeOnEngines, type Warehouse } from '../support/warehouse-fixture.ts'
import { digestOf, filesIn, tablesIn } from './exported-cells.ts'

const filled = useFilled()
const root = mkdtempSync(join(tmpdir(), 'muster-export-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const clock = { now: () => Date.parse(filledAt), sleep: async () => undefined }
const never = new AbortController().signal
const monthRows = 300

let warehouse: Warehouse
let folder: string
let manifest: ExportManifest

const exported = (
  engine: Engine,
  to: string,
  { includePii = false, signal = never } = {},
): Promise<ExportManifest> =>
  exportParquet(
    { engine, clock, signal, version: 'test', onTable: () => undefined },
    { folder: to, includePii, monthRows },
  )

async function buildOne(engine: Engine): Promise<void> {
  const effects = {
    engine,
    clock,
    rng: seededRng(1),
    signal: never,
    version: 'test',
    gate: openGate,
    onMart: () => undefined,
  }
  const { marts } = await buildMarts(effects, { marts: readMarts(), names: ['worker_week'], all: false })
  expect(marts.map(({ state }) => state)).toEqual(['built'])
}

beforeAll(async () => {
  warehouse = await filled.duckdb()
  await buildOne(warehouse.engine)
  folder = join(root, 'parquet')
  manifest = await exported(warehouse.engine, folder)
})

describe('an export', () => {
  test('reads back cell by cell: all of star and mart, nothing of pii', async () => {
    expect(await digestOf(warehouse.engine, filesIn(manifest, folder))).toEqual(
      await digestOf(warehouse.engine, tablesIn(manifest)),
    )
    const names = manifest.tables.map(({ schema, name }) => `${schema}.${name}`)
    const [held] = await warehouse.engine.rows<{ names: string }>(
      `select string_agg(table_schema || '.' || table_name, ',' order by table_schema, table_name) as names
       from information_schema.tables where table_catalog = current_database() and table_type = 'BASE TABLE' and table_schema in ('star', 'mart')`,
    )
    expect(names).toEqual(held?.names.split(','))
    expect(readdirSync(folder).sort()).toEqual(['manifest.json', 'mart', 'star'])
  })

  test('cuts large facts and marts by month, so that readers can skip months', async () => {
    const table = manifest.tables.find(({ name }) => name === 'fact_timesheet')!
    expect(table.partitionedBy).toBe('partition_month')
    expect(table.files.length).toBeGreaterThan(3)
    expect(
      table.files.every(({ path }) =>
        /^star\/fact_timesheet\/partition_month=\d{4}-\d\d\/rows\.parquet$/.test(path),
      ),
    ).toBe(true)
    expect(manifest.tables.find(({ name }) => name === 'worker_week')?.partitionedBy).toBe('partition_month')
    expect(manifest.tables.find(({ name }) => name === 'dim_date')?.files.map(({ path }) => path)).toEqual([
      'star/dim_date.parquet',
    ])
    const rows = await warehouse.engine.rows<{ month: string; n: number }>(
      `select partition_month as month, count(*) filter (where strftime(work_day, '%Y-%m') <> partition_month) as n
       from (select partition_month, week_ending_date as work_day from read_parquet('${folder}/star/fact_timesheet/*/*.parquet', hive_partitioning = true, hive_types_autocast = false))
       group by 1`,
    )
    expect(rows.length).toBe(table.files.length)
    expect(rows.filter(({ n }) => Number(n) > 0)).toEqual([])
  })

  test('its manifest has the rows and the checksum of every file', () => {
    expect(JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))).toEqual(manifest)
    expect(manifest).toMatchObject({
      format: 'muster export 1',
      engine: 'duckdb',
      includesPii: false,
      exportedAt: filledAt,
    })
    expect(manifest.asOf).toMatch(/^2026-11-02T02:30/)
    for (const { path, bytes, sha256 } of manifest.tables.flatMap(({ files }) => files)) {
      const text = readFileSync(join(folder, path))
      expect([text.length, createHash('sha256').update(text).digest('hex')]).toEqual([bytes, sha256])
    }
    const table = manifest.tables.find(({ name }) => name === 'fact_timesheet')
    expect(table?.columns.find(({ name }) => name === 'net_hours')).toEqual({
      name: 'net_hours',
      type: 'DECIMAL(12,4)',
      description: 'Hours after breaks.',
    })
  })

  test('that is stopped leaves the previous export in place and no files of its own', async () => {
    const before = readFileSync(join(folder, 'manifest.json'), 'utf8')
    await expect(exported(warehouse.engine, folder, { signal: AbortSignal.abort() })).rejects.toThrow()
    expect(readFileSync(join(folder, 'manifest.json'), 'utf8')).toBe(before)
    expect(readdirSync(root).filter(name => /writing|replaced/.test(name))).toEqual([])
  })

  test('refuses a folder that holds anything else', async () => {
    const to = join(root, 'documents')
    mkdirSync(to)
    writeFileSync(join(to, 'thesis.txt'), 'years of work')
    await expect(exported(warehouse.engine, to)).rejects.toThrow(/something other than an export of muster/)
    expect(readdirSync(to)).toEqual(['thesis.txt'])
  })
})

/** Texts and numbers that a transfer as CSV could change. */
const awkward = [
  '',
  ' ',
  'NULL',
  '\\N',
  'a,b;c',
  'say "this"',
  "it's",
  'two\nlines',
  'two\r\nlines',
  '\ttab',
  '\\',
  'ÄÖÜ 漢字 🦺',
  '-1',
]

describeOnEngines('values that are hard to move', bench => {
  test('arrive unchanged', async () => {
    const { engine } = await bench.warehouse()
    for (const [index, text] of [...awkward, null].entries()) {
      await engine.run(
        `insert into star.fact_timesheet (timesheet_id, reference, net_hours, margin, is_deleted, week_ending_date, source_updated_at)
         values ($1, $2, -0.0001, 99999999999999.9999, $3, $4, '2026-10-25T00:59:59.123456Z')`,
        [
          `t${index}`,
          text,
          index % 2 === 0 ? null : true,
          index % 3 === 0 ? null : `2026-0${1 + (index % 3)}-28`,
        ],
      )
    }
    const to = join(root, bench.name)
    const told = await exportParquet(
      { engine, clock, signal: never, version: 'test', onTable: () => undefined },
      { folder: to, includePii: false, monthRows: 3 },
    )
    const table = told.tables.find(({ name }) => name === 'fact_timesheet')!
    expect(table.files.map(({ path, rows }) => [path.split('/')[2], rows])).toEqual([
      ['partition_month=2026-02', 5],
      ['partition_month=2026-03', 4],
      ['partition_month=__HIVE_DEFAULT_PARTITION__', 5],
    ])
    const [files] = filesIn({ ...told, tables: [table] }, to).values()
    const rows = await engine.stage.rows<Record<string, unknown>>(
      `select reference, cast(net_hours as text) as net_hours, cast(margin as text) as margin, is_deleted, cast(week_ending_date as text) as day,
         source_updated_at from ${files} order by cast(substr(timesheet_id, 2) as integer)`,
    )
    expect(rows).toEqual(
      [...awkward, null].map((reference, index) => ({
        reference,
        net_hours: '-0.0001',
        margin: '99999999999999.9999',
        is_deleted: index % 2 === 0 ? null : true,
        day: index % 3 === 0 ? null : `2026-0${1 + (index % 3)}-28`,
        source_updated_at: '2026-10-25T00:59:59.123456Z',
      })),
    )
  })
})

describe('on the command line', () => {
  const to = () => join(root, 'by-command')
  const env = () => ({
    MUSTER_BASE_URL: 'http://localhost:1',
    MUSTER_API_KEY: 'k',
    MUSTER_WAREHOUSE: warehouse.address,
  })

  test('an export has pii only on request, and then only its owner can read it', async () => {
    await warehouse.close()
    const { code, out } = await muster(`export --parquet ${to()} --include-pii --json`, { env: env() })
    await warehouse.open()
    const told: ExportManifest = JSON.parse(out)
    expect([code, statSync(to()).mode & 0o777]).toEqual([0, 0o700])
    const pii = told.tables.filter(({ schema }) => schema === 'pii')
    expect(pii.filter(({ rows }) => rows > 0).length).toBeGreaterThan(5)
    const only = { ...told, tables: pii }
    expect(await digestOf(warehouse.engine, filesIn(only, to()))).toEqual(
      await digestOf(warehouse.engine, tablesIn(only)),
    )
  })

  test('an export of the published copy replaces the previous one and has no pii', async () => {
    const file = warehouse.address.slice('duckdb:'.length)
    await publish({ engine: warehouse.engine, clock, rng: seededRng(7), version: 'test' })
    await warehouse.close()
    rmSync(file)
    expect(existsSync(publishedFile(file))).toBe(true)
    const { code, out } = await muster(`export --parquet ${to()} --verbose`, { env: env() })
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(
        /star\.fact_timesheet +1,000 +1\n[\s\S]*exported \d+ tables, [\d,]+ rows, [\d,]+ files, [\d.]+ MB: .*\n$/,
      ),
    ])
    expect(readdirSync(to()).sort()).toEqual(['manifest.json', 'mart', 'star'])
    expect(statSync(to()).mode & 0o777).toBe(0o755)
    expect(readdirSync(root).filter(name => /writing|replaced/.test(name))).toEqual([])
    expect(await muster(`export --parquet ${to()} --include-pii`, { env: env() })).toMatchObject({
      code: 2,
      err: expect.stringMatching(/this warehouse has no schema pii/),
    })
    expect(existsSync(join(to(), 'manifest.json'))).toBe(true)
  })

  test('export needs a folder', async () => {
    const { code, err } = await muster('export', { env: env() })
    expect([code, err]).toEqual([2, 'muster: export needs a folder: name it with --parquet FOLDER\n'])
  })

  test('docs shows rows and freshness of the warehouse', async () => {
    const page = join(root, 'pages', 'dictionary.html')
    const line = `docs --out ${page} --markdown ${join(root, 'dictionary.md')} --json`
    expect(await muster(line, { env: env() })).toMatchObject({
      code: 2,
      err: `muster: there is no such folder (${join(root, 'pages')}): create it, or name another file; nothing was changed\n`,
    })
    mkdirSync(join(root, 'pages'))
    const { code, out } = await muster(line, { env: env() })
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      asOf: manifest.asOf,
      files: [{ file: page }, { file: join(root, 'dictionary.md') }],
    })
    expect(/id="star\.fact_timesheet"[\s\S]*?<\/dl>/.exec(readFileSync(page, 'utf8'))?.[0]).toMatch(
      /rows<\/dt><dd>[\d,]{3,}</,
    )
    expect(readFileSync(join(root, 'dictionary.md'), 'utf8')).toMatch(
      /### `star\.fact_timesheet`\n\n.*\n\n[\d,]+ rows/,
    )
  })

  test('docs needs neither settings nor a warehouse', async () => {
    const { code, out, cwd } = await muster('docs')
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^\d+ tables, [\d,]+ columns, as declared, without row counts, [\d.]+ MB: /),
    ])
    expect(readFileSync(join(cwd, 'dictionary.html'), 'utf8')).toContain('no warehouse was opened')
  })
})
