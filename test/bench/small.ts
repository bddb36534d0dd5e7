/**
 * The sync that runs most: nothing new, or 500 changed, where 100,000 timesheets with timelogs are stored, in a DuckDB file and
 * in PostgreSQL. Beside it what DuckDB itself takes to open such a file, ask it, write a row and close it. Times are of the
 * processor, all threads, and with PostgreSQL those of the server as well.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { type OwnServer, startPostgres } from '../support/postgres-server.ts'
import { serverSeconds } from './processor-time.ts'
import { measured, middle, muster, type Spent, table } from './spent.ts'
import { startServer } from './sync-run.ts'

export interface SmallOptions {
  readonly count: number
  readonly rounds: number
  /** Folder of another version of the program, built; measured in turn with this one. */
  readonly beside?: string
}

/** A sync and what the server took for it. */
async function withServer(server: OwnServer, work: () => Promise<Spent>): Promise<Spent> {
  const before = await serverSeconds(`${server.url}/postgres`)
  const spent = await work()
  return { ...spent, cpu: spent.cpu + (await serverSeconds(`${server.url}/postgres`)) - before }
}

async function administered(server: OwnServer, ...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: `${server.url}/postgres` })
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

const sync = ['sync', 'timesheets', '--quiet']

async function holdOnServer(
  server: OwnServer,
  { name, program, url, folder }: Record<'name' | 'program' | 'url' | 'folder', string>,
): Promise<void> {
  mkdirSync(folder)
  await administered(server, `create database held_${name}`)
  const at = { url, warehouse: `${server.url}/held_${name}`, folder }
  await muster(program, ['sync', 'users', '--quiet'], at)
  for (let times = 0; times < 4; times += 1) await muster(program, sync, at)
  // What the first load left behind is tidied now, and not while a small sync is measured.
  const client = new pg.Client({ connectionString: at.warehouse })
  await client.connect()
  await client.query('vacuum analyze')
  await client.end()
}

interface Warehouse {
  readonly folder: string
  readonly file: string
}

const changed = 500

/** A copy for each run, so that each meets the same warehouse. */
function copyOf({ folder }: Warehouse, place: string): Warehouse {
  rmSync(place, { recursive: true, force: true })
  cpSync(folder, place, { recursive: true })
  return { folder: place, file: join(place, 'synced.duckdb') }
}

async function firstSync(program: string, url: string, folder: string): Promise<Warehouse> {
  const file = join(folder, 'synced.duckdb')
  const sync = (...resources: string[]) =>
    muster(program, ['sync', ...resources, '--quiet'], { url, warehouse: `duckdb:${file}` })
  await sync('users')
  // The second sync archives the pages of the first, and the third is the first that has nothing to do.
  for (let times = 0; times < 4; times += 1) await sync('timesheets')
  if (!existsSync(file)) throw new Error('the warehouse was not made')
  return { folder, file }
}

export async function benchSmall({ count, rounds, beside }: SmallOptions): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'muster-small-'))
  const server = await startPostgres(['autovacuum=off'])
  const same = await startServer({ count, timelogs: 'with' })
  const later = await startServer({ count, timelogs: 'with', changed })
  const programs = [...(beside ? [['before', beside] as const] : []), ['now', process.cwd()] as const]
  const landingOf = (name: string): string => join(root, `server-${name}`)
  const spent = new Map<string, Spent[]>()
  const add = (name: string, one: Spent): void => void spent.set(name, [...(spent.get(name) ?? []), one])
  try {
    const warehouses = new Map<string, Warehouse>()
    for (const [name, program] of programs)
      await holdOnServer(server, { name, program, url: same.url, folder: landingOf(name) })
    for (const [name, program] of programs)
      warehouses.set(name, await firstSync(program, same.url, join(root, `synced-${name}`)))
    for (let round = 0; round < rounds; round += 1)
      for (const [name, program] of programs) {
        const copy = copyOf(warehouses.get(name) as Warehouse, join(root, 'copy'))
        const warehouse = `duckdb:${copy.file}`
        add('floor', await measured(['--import', 'tsx', 'test/bench/open-floor.ts', copy.file]))
        add(`nothing new, ${name}`, await muster(program, sync, { url: same.url, warehouse }))
        add(`${changed} changed, ${name}`, await muster(program, sync, { url: later.url, warehouse }))
        add(`status, ${name}`, await muster(program, ['status'], { url: same.url, warehouse }))
        const small = `${server.url}/small`
        await administered(
          server,
          'drop database if exists small with (force)',
          `create database small template held_${name}`,
          'checkpoint',
        )
        const folder = join(root, 'copy')
        rmSync(folder, { recursive: true })
        cpSync(landingOf(name), folder, { recursive: true })
        for (const [what, { url }] of [
          ['nothing new', same],
          [`${changed} changed`, later],
        ] as const)
          add(
            `${what}, PostgreSQL, ${name}`,
            await withServer(server, () => muster(program, sync, { url, warehouse: small, folder })),
          )
        add(`--version, ${name}`, await muster(program, ['--version'], { url: same.url, warehouse }))
      }
    const bytes = statSync(warehouses.get('now')?.file ?? '').size
    console.log(
      `${count.toLocaleString('en')} stored, ${Math.round(bytes / 1e6)} MB, medians of ${rounds} rounds`,
    )
    table(spent, middle(spent.get('floor') ?? []))
  } finally {
    same.process.kill()
    later.process.kill()
    await server.stop()
    rmSync(root, { recursive: true, force: true })
  }
}
