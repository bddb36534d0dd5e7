/** Warehouses of seeds: copies of one that was migrated once, opened by one process after the other. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { migrate } from '../../src/state/migrate.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { openPostgres } from '../../src/warehouse/postgres/open.ts'
import { startPostgres } from '../postgres/own-server.ts'

/** Where a warehouse lies, whichever process has it open. */
export interface Disk {
  readonly folder: string
  /** As MUSTER_WAREHOUSE has it. */
  readonly address: string
  open(): Promise<Engine>
  /** Resolves when nothing is left of a process that was killed. */
  settled(): Promise<void>
  remove(): Promise<void>
}

export interface Disks {
  make(): Promise<Disk>
  close(): Promise<void>
}

const migratedAt = '2026-11-01T00:00:00.000Z'

export async function duckdbDisks(root: string): Promise<Disks> {
  const template = join(root, 'template.duckdb')
  const engine = await openDuckdb(template)
  await migrate(engine, migratedAt)
  await engine.close()
  return {
    async make() {
      const folder = mkdtempSync(join(root, 'duckdb-'))
      const file = join(folder, 'w.duckdb')
      copyFileSync(template, file)
      return {
        folder,
        address: `duckdb:${file}`,
        open: () => openDuckdb(file),
        settled: async () => undefined,
        remove: async () => rmSync(folder, { recursive: true, force: true }),
      }
    },
    close: async () => rmSync(template, { force: true }),
  }
}

/** Nothing of a seed has to survive a crash of the machine. */
const careless = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=50']

async function postgresDisk(at: { root: string; server: string; name: string }): Promise<Disk> {
  const { root, server, name } = at
  const folder = join(root, name)
  mkdirSync(folder, { recursive: true })
  const url = `${server}/${name}`
  return {
    folder,
    address: url,
    open: () => openPostgres({ url, shown: name }, { scratch: join(folder, 'scratch') }),
    async settled() {
      await onServer(server, async client => {
        const others = `select 1 from pg_stat_activity where datname = '${name}'`
        while ((await client.query(others)).rows.length > 0) await wait(2)
      })
    },
    async remove() {
      await onServer(server, client => client.query(`drop database if exists ${name} with (force)`))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function onServer(server: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: `${server}/postgres` })
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}

export async function postgresDisks(root: string): Promise<Disks> {
  const { url: server, stop } = await startPostgres(careless)
  await onServer(server, client => client.query('create database template'))
  const template = await postgresDisk({ root, server, name: 'template' })
  const engine = await template.open()
  await migrate(engine, migratedAt)
  await engine.close()
  let made = 0
  return {
    async make() {
      made += 1
      const name = `seed_${made}`
      await onServer(server, client => client.query(`create database ${name} template template`))
      return postgresDisk({ root, server, name })
    },
    close: stop,
  }
}
