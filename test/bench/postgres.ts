/**
 * A first sync into PostgreSQL beside its floor: the same pages fetched and written, and the same rows copied into empty
 * tables with a primary key, and nothing else.
 */
import { createReadStream, createWriteStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { request } from 'undici'
import { startPostgres } from '../support/postgres-server.ts'
import { median, type SyncFigures, seconds, startServer, syncOnce, type Workload } from './sync-run.ts'

interface StoredTable {
  readonly table: string
  readonly file: string
  readonly columns: string
  readonly key: string | null
}

async function withClient<Result>(
  url: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** What the sync wrote, as files: the rows that the floor copies. */
async function readTables(client: pg.Client, folder: string): Promise<StoredTable[]> {
  const { rows } = await client.query<{ schema: string; name: string; columns: string; key: string | null }>(
    `select n.nspname as schema, c.relname as name,
       (select string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', ' order by a.attnum)
        from pg_attribute a where a.attrelid = c.oid and a.attnum > 0) as columns,
       (select pg_get_constraintdef(k.oid) from pg_constraint k where k.conrelid = c.oid and k.contype = 'p') as key
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname in ('star', 'pii') and c.relkind = 'r' and c.relname <> 'dim_date'`,
  )
  const tables: StoredTable[] = []
  for (const { schema, name, columns, key } of rows) {
    const table = `${schema}_${name}`
    const file = join(folder, `${table}.csv`)
    await pipeline(
      client.query(copyTo(`copy ${schema}."${name}" to stdout (format csv)`)),
      createWriteStream(file),
    )
    tables.push({ table, file, columns, key })
  }
  return tables
}

async function fetchFloor(url: string, count: number, folder: string): Promise<number> {
  const started = performance.now()
  for (let page = Math.ceil(count / 200); page >= 1; page -= 1) {
    const { body } = await request(`${url}/timesheets?page=${page}&limit=200`)
    writeFileSync(join(folder, 'page.json'), Buffer.from(await body.arrayBuffer()))
  }
  return performance.now() - started
}

async function copyFloor(client: pg.Client, tables: readonly StoredTable[]): Promise<number> {
  for (const { table, columns, key } of tables) {
    await client.query(`drop table if exists ${table}`)
    await client.query(`create table ${table} (${columns}${key ? `, ${key}` : ''})`)
  }
  const started = performance.now()
  await client.query('begin')
  for (const { table, file } of tables)
    await pipeline(createReadStream(file), client.query(copyFrom(`copy ${table} from stdin (format csv)`)))
  await client.query('commit')
  return performance.now() - started
}

async function freshSync(server: string, url: string): Promise<SyncFigures> {
  await withClient(`${server}/postgres`, async client => {
    await client.query('drop database if exists bench with (force)')
    await client.query('create database bench')
  })
  return syncOnce(url, `${server}/bench`)
}

/** Floor and sync in turn, so that a change in the machine's speed meets both; the ratio is of their medians. */
export async function comparePostgres(workload: Workload, rounds = 3): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-bench-'))
  const server = await startPostgres()
  const api = await startServer(workload)
  const floors: { fetchMs: number; loadMs: number }[] = []
  const syncs: SyncFigures[] = []
  try {
    syncs.push(await freshSync(server.url, api.url))
    const tables = await withClient(`${server.url}/bench`, client => readTables(client, folder))
    for (let round = 0; round < rounds; round += 1) {
      const fetchMs = await fetchFloor(api.url, workload.count, folder)
      const loadMs = await withClient(`${server.url}/postgres`, client => copyFloor(client, tables))
      floors.push({ fetchMs, loadMs })
      syncs.push(await freshSync(server.url, api.url))
    }
  } finally {
    api.process.kill()
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  const floor = median(floors.map(({ fetchMs, loadMs }) => fetchMs + loadMs))
  const sync = median(syncs.slice(1).map(({ milliseconds }) => milliseconds))
  console.log(
    `${workload.count.toLocaleString('en')} timesheets ${workload.timelogs} timelogs into PostgreSQL, median of ${rounds} rounds`,
  )
  console.log(
    `  floor  ${seconds(floor)} s   fetch ${seconds(median(floors.map(f => f.fetchMs)))} s, copy ${seconds(median(floors.map(f => f.loadMs)))} s`,
  )
  console.log(
    `  sync   ${seconds(sync)} s   ${Math.round((workload.count / sync) * 1000).toLocaleString('en')} records/s`,
  )
  console.log(
    `  ratio  ${(sync / floor).toFixed(2).padStart(7)}     peak memory ${Math.max(...syncs.map(s => s.peakMegabytes))} MB`,
  )
}

/** For the memory of the program; what the server takes is its own. */
export async function millionPostgres(): Promise<void> {
  const server = await startPostgres()
  const api = await startServer({ count: 1_000_000, timelogs: 'without' })
  try {
    const { milliseconds, peakMegabytes } = await freshSync(server.url, api.url)
    console.log(
      `1,000,000 timesheets into PostgreSQL: ${seconds(milliseconds)} s, peak memory ${peakMegabytes} MB`,
    )
  } finally {
    api.process.kill()
    await server.stop()
  }
}
