/** Makes the warehouses of seeds, as copies of one that is migrated once. */
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
import { OpenWarehouse } from './open-warehouse.ts'
import type { ResourceName } from './scenario.ts'
import { dropOtherTables } from './slim.ts'

/** A warehouse on disk, and how processes open it. */
export interface Disk {
  readonly folder: string
  /** The value for MUSTER_WAREHOUSE. */
  readonly address: string
  /** Keeps the warehouse open between processes; undefined if each process opens the file. */
  readonly openWarehouse?: OpenWarehouse
  open(): Promise<Engine>
  /** Resolves when the server has closed all connections of a killed process. */
  settled(): Promise<void>
  remove(): Promise<void>
}

/** The tables that a seed needs. */
export interface WarehouseTables {
  /** Resources whose tables the warehouse has; undefined for all tables. */
  readonly only: readonly ResourceName[] | undefined
}

export interface Disks {
  make(wanted: WarehouseTables): Promise<Disk>
  close(): Promise<void>
}

const migratedAt = '2026-11-01T00:00:00.000Z'

/** Copies the full warehouse and drops the tables of other resources; once for each set of resources. */
async function slimTemplate(fullWarehouse: string, only: readonly ResourceName[]): Promise<string> {
  const file = `${fullWarehouse}.${[...only].sort().join('.')}`
  if (existsSync(file)) return file
  copyFileSync(fullWarehouse, file)
  const instance = await DuckDBInstance.create(file)
  const connection = await instance.connect()
  const statements = await dropOtherTables(only, async sql =>
    (await connection.runAndReadAll(sql)).getRowObjects(),
  )
  for (const statement of statements) await connection.run(statement)
  connection.closeSync()
  instance.closeSync()
  return file
}

/**
 * Makes DuckDB warehouses. One with all tables is a file with a log, which each process opens again. One with the tables of a
 * few resources stays open in DuckDB after a kill, with committed data only. That saves time: opening a file of 270 tables
 * costs as much as thirty statements, and writing its checkpoint twice as much.
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
      const openWarehouse = only && new OpenWarehouse()
      return {
        folder,
        address: `duckdb:${file}`,
        ...(openWarehouse && { openWarehouse }),
        open() {
          openWarehouse?.expect()
          return openDuckdb(file)
        },
        settled: async () => undefined,
        async remove() {
          await openWarehouse?.close()
          rmSync(folder, { recursive: true, force: true })
        },
      }
    },
    close: async () => rmSync(template, { force: true }),
  }
}

/** A seed's data need not survive a crash of the machine. */
const unsafeSettings = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=50']

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

/** Template databases, each made when it is first needed. */
class PostgresTemplates {
  readonly #server: string
  readonly #slim = new Map<string, Promise<string>>()

  constructor(server: string) {
    this.#server = server
  }

  of(only: WarehouseTables['only']): Promise<string> {
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
    for (const sql of await dropOtherTables(only, async sql => (await client.query(sql)).rows))
      await client.query(sql)
    await client.end()
    return name
  }
}

export async function postgresDisks(root: string): Promise<Disks> {
  const { url: server, stop } = await startPostgres(unsafeSettings)
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
