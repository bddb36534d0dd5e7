/** Warehouses of seeds: copies of one that was migrated once, opened by one process after the other. */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { DuckDBInstance } from '@duckdb/node-api'
import pg from 'pg'
import { migrate } from '../../src/state/migrate.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { openPostgres } from '../../src/warehouse/postgres/open.ts'
import { startPostgres } from '../support/postgres-server.ts'
import type { ResourceName } from './climate.ts'
import { OpenWarehouse } from './open-warehouse.ts'
import { dropOthers } from './slim.ts'

/** Where a warehouse lies, whichever process has it open. */
export interface Disk {
  readonly folder: string
  /** As MUSTER_WAREHOUSE has it. */
  readonly address: string
  /** Where its processes find it without a file being opened again. */
  readonly kept?: OpenWarehouse
  open(): Promise<Engine>
  /** Resolves when nothing is left of a process that was killed. */
  settled(): Promise<void>
  remove(): Promise<void>
}

/** What a seed needs of its warehouse. */
export interface Wanted {
  /** Only their tables are there; all are when it is undefined. */
  readonly only: readonly ResourceName[] | undefined
}

export interface Disks {
  make(wanted: Wanted): Promise<Disk>
  close(): Promise<void>
}

const migratedAt = '2026-11-01T00:00:00.000Z'

/** A copy of the whole warehouse with the tables of some resources only, made once for each set of them. */
async function slimTemplate(whole: string, only: readonly ResourceName[]): Promise<string> {
  const file = `${whole}.${[...only].sort().join('.')}`
  if (existsSync(file)) return file
  copyFileSync(whole, file)
  const instance = await DuckDBInstance.create(file)
  const connection = await instance.connect()
  const statements = await dropOthers(only, async sql =>
    (await connection.runAndReadAll(sql)).getRowObjects(),
  )
  for (const statement of statements) await connection.run(statement)
  connection.closeSync()
  instance.closeSync()
  return file
}

/**
 * A whole warehouse is a file with a log, opened anew by each process. One with the tables of a few resources stays in
 * DuckDB when a process is killed, with what was committed and nothing else: to read a file of 270 tables again costs as much
 * as thirty statements, and to write its checkpoint twice as much.
 */
export async function duckdbDisks(root: string): Promise<Disks> {
  const template = join(root, 'template.duckdb')
  const engine = await openDuckdb(template)
  await migrate(engine, migratedAt)
  await engine.close()
  return {
    async make({ only }) {
      const folder = mkdtempSync(join(root, 'duckdb-'))
      const file = join(folder, 'w.duckdb')
      copyFileSync(only ? await slimTemplate(template, only) : template, file)
      const kept = only && new OpenWarehouse()
      return {
        folder,
        address: `duckdb:${file}`,
        ...(kept && { kept }),
        open() {
          kept?.expect()
          return openDuckdb(file)
        },
        settled: async () => undefined,
        async remove() {
          await kept?.close()
          rmSync(folder, { recursive: true, force: true })
        },
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

/** Databases that others are copies of, made when they are first asked for. */
class PostgresTemplates {
  readonly #server: string
  readonly #slim = new Map<string, Promise<string>>()

  constructor(server: string) {
    this.#server = server
  }

  of(only: Wanted['only']): Promise<string> {
    if (!only) return Promise.resolve('template')
    const what = [...only].sort().join()
    const made = this.#slim.get(what) ?? this.#make(only, `slim_${this.#slim.size + 1}`)
    this.#slim.set(what, made)
    return made
  }

  async #make(only: readonly ResourceName[], name: string): Promise<string> {
    await onServer(this.#server, client => client.query(`create database ${name} template template`))
    const client = new pg.Client({ connectionString: `${this.#server}/${name}` })
    await client.connect()
    for (const sql of await dropOthers(only, async sql => (await client.query(sql)).rows))
      await client.query(sql)
    await client.end()
    return name
  }
}

export async function postgresDisks(root: string): Promise<Disks> {
  const { url: server, stop } = await startPostgres(careless)
  await onServer(server, client => client.query('create database template'))
  const template = await postgresDisk({ root, server, name: 'template' })
  const engine = await template.open()
  await migrate(engine, migratedAt)
  await engine.close()
  const templates = new PostgresTemplates(server)
  let made = 0
  return {
    async make({ only }) {
      made += 1
      const name = `seed_${made}`
      const from = await templates.of(only)
      await onServer(server, client =>
        client.query(`create database ${name} template ${from} strategy file_copy`),
      )
      return postgresDisk({ root, server, name })
    },
    close: stop,
  }
}
