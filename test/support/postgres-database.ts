/** An empty, migrated PostgreSQL database for a test: a copy of a template, which costs a tenth of migrating. */
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { inject } from 'vitest'
import { migrate } from '../../src/state/migrate.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { openPostgres } from '../../src/warehouse/postgres/open.ts'

/** The address of a database on the server of this test run. */
export function addressOf(database: string): string {
  const url = new URL(inject('postgres'))
  url.pathname = `/${database}`
  return url.href
}

/** One statement on a connection of its own, on the database that every server has. */
export async function onServer<Row extends object>(sql: string, database = 'postgres'): Promise<Row[]> {
  const client = new pg.Client({ connectionString: addressOf(database) })
  await client.connect()
  try {
    return (await client.query(sql)).rows as Row[]
  } finally {
    await client.end()
  }
}

/** Made by whichever test comes first; the others wait for it at a lock of the server. */
async function template(
  name: string,
  fill: (engine: Engine) => Promise<unknown>,
  from = 'template0',
): Promise<string> {
  const client = new pg.Client({ connectionString: addressOf('postgres') })
  await client.connect()
  try {
    await client.query('select pg_advisory_lock(20)')
    const { rowCount } = await client.query(
      'select 1 from pg_database where datname = $1 and datistemplate',
      [name],
    )
    if (rowCount === 1) return name
    await client.query(`drop database if exists ${name}`)
    await client.query(`create database ${name} template ${from}`)
    const scratch = mkdtempSync(join(tmpdir(), 'muster-template-'))
    const engine = await openPostgres({ url: addressOf(name), shown: name }, { scratch })
    await fill(engine)
    await engine.close()
    rmSync(scratch, { recursive: true, force: true })
    // What nobody may connect to can be copied at any moment.
    await client.query(`alter database ${name} with is_template true allow_connections false`)
    return name
  } finally {
    await client.end()
  }
}

let made = 0

export interface Database {
  readonly url: string
  drop(): Promise<void>
}

async function copyOf(from: string): Promise<Database> {
  made += 1
  const name = `muster_test_${process.pid}_${made}_${createHash('md5').update(String(process.hrtime.bigint())).digest('hex').slice(0, 6)}`
  await onServer(`create database ${name} template ${from}`)
  return {
    url: addressOf(name),
    drop: async () => {
      await onServer(`drop database if exists ${name} with (force)`)
    },
  }
}

/** `structure` names what an empty warehouse looks like; `without` gives a database that nothing was made in. */
export async function database(structure?: string): Promise<Database> {
  return copyOf(structure === undefined ? 'template0' : await migrated(structure))
}

const migrated = (structure: string): Promise<string> =>
  template(`muster_template_${structure}`, engine => migrate(engine, new Date().toISOString()))

/** A copy of a migrated database that `fill` fills, once a run of the tests; `name` tells what it holds. */
export async function filledDatabase(
  { name, structure }: { name: string; structure: string },
  fill: (engine: Engine) => Promise<unknown>,
): Promise<Database> {
  return copyOf(await template(`muster_filled_${name}`, fill, await migrated(structure)))
}
