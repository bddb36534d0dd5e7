/** The empty warehouse that the build makes: a new file begins as a copy of it, which differs in nothing from one that is made. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { copyEmpty, makeEmpty, migrate } from '../../src/state/migrate.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { temporaryFolder } from '../support/captured-world.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const now = '2026-11-26T06:00:00.000Z'
const folder = temporaryFolder()
const newFile = (): string => join(folder, `${Math.random().toString(36).slice(2)}.duckdb`)

async function on<Result>(file: string, work: (engine: Engine) => Promise<Result>): Promise<Result> {
  const engine = await openDuckdb(file)
  try {
    return await work(engine)
  } finally {
    await engine.close()
  }
}

const builtIn = (package_: string): string[] =>
  readdirSync(join(package_, 'dist')).filter(name => name.endsWith('.duckdb'))

/** All that a file holds: what its catalogue says of it, and every row of every table. */
async function contents(engine: Engine) {
  const here = `where database_name = current_database() and not internal`
  const of = (columns: string, from: string) =>
    engine.rows<Record<string, unknown>>(`select ${columns} from ${from} ${here} order by all`)
  const tables = await of('schema_name, table_name, comment, sql, has_primary_key', 'duckdb_tables()')
  const rows: Record<string, unknown> = {}
  for (const { schema_name: schema, table_name: name } of tables)
    rows[`${schema}.${name}`] = await engine.rows(`select * from "${schema}"."${name}" order by all`)
  return {
    tables,
    rows,
    schemas: await of('schema_name, comment', 'duckdb_schemas()'),
    views: await of('schema_name, view_name, comment, sql', 'duckdb_views()'),
    columns: await of(
      'schema_name, table_name, column_index, column_name, comment, data_type, is_nullable, column_default',
      'duckdb_columns()',
    ),
    constraints: await engine.rows(
      `select schema_name, table_name, constraint_index, constraint_type, constraint_text, constraint_column_names::varchar as names
       from duckdb_constraints() where database_name = current_database() order by all`,
    ),
    indexes: await engine.rows(
      `select schema_name, table_name, index_name, is_unique, sql from duckdb_indexes() where database_name = current_database() order by all`,
    ),
    sequences: await engine.rows('select * from duckdb_sequences() where database_name = current_database()'),
  }
}

type Contents = Awaited<ReturnType<typeof contents>>

function expectSame(one: Contents, other: Contents): void {
  expect(Object.keys(one.rows)).toEqual(Object.keys(other.rows))
  for (const [table, rows] of Object.entries(one.rows)) expect(rows, table).toEqual(other.rows[table])
  const { rows: _, ...structure } = one
  for (const [part, found] of Object.entries(structure))
    expect(found, part).toEqual(other[part as keyof Contents])
}

let made: Contents
let name: string

beforeAll(async () => {
  await on(newFile(), async engine => {
    name = await makeEmpty(engine)
    made = await contents(engine)
  })
})

describe('a copy', () => {
  test('is of this structure, and there is one', () => {
    expect(builtIn(root)).toEqual([name])
  })

  test('has every schema, table, view, column, comment, constraint and row that statements make', async () => {
    const copied = await on(newFile(), async engine => {
      expect(await copyEmpty(engine, join(root, 'dist', name))).toBe(true)
      return contents(engine)
    })
    // So that nothing is compared with nothing.
    expect(copied.tables.length).toBeGreaterThan(250)
    expect(copied.columns.filter(({ comment }) => comment !== null).length).toBeGreaterThan(4_000)
    expect(copied.views.length).toBeGreaterThan(0)
    expect(copied.constraints.length).toBeGreaterThan(100)
    expect(Object.values(copied.rows).flat().length).toBeGreaterThan(5_000)
    expectSame(copied, made)
  })

  test.each([
    'create schema star',
    'create table star_of_mine (a integer)',
    'create view mine as select 1 as one',
  ])('does not go into a file where there is something: %s', async statement => {
    await on(newFile(), async engine => {
      await engine.run(statement)
      expect(await copyEmpty(engine, join(root, 'dist', name))).toBe(false)
      expect(await migrate(engine, now)).toBe(true)
    })
  })
})

/** A program of its own, whose files can be changed. */
function program(): string {
  const own = temporaryFolder()
  for (const path of ['dist', 'sql', 'package.json'])
    cpSync(join(root, path), join(own, path), { recursive: true, filter: from => !from.endsWith('.map') })
  symlinkSync(join(root, 'node_modules'), join(own, 'node_modules'))
  return own
}

/** There is no service to sync from, but the warehouse is made before the first request. */
const sync = (own: string, file: string) =>
  spawn(process.execPath, [join(own, 'dist/main.js'), 'sync', 'key', '--quiet'], {
    cwd: folder,
    stdio: 'ignore',
    env: {
      ...process.env,
      MUSTER_BASE_URL: 'http://127.0.0.1:9/api',
      MUSTER_API_KEY: 'nobody-asks',
      MUSTER_WAREHOUSE: `duckdb:${file}`,
    },
  })

async function syncedInto(own: string, file: string): Promise<void> {
  const child = sync(own, file)
  expect(await once(child, 'close')).toEqual([1, null])
}

describe('the built program', () => {
  const withoutTimes = (found: Contents): Contents => ({
    ...found,
    rows: Object.fromEntries(
      Object.entries(found.rows).filter(([table]) =>
        ['star', 'pii', 'history'].includes(table.split('.')[0] ?? ''),
      ),
    ),
  })
  const structureOf = (engine: Engine) => engine.rows('select name, checksum from ops.migration order by 1')

  test('makes a new warehouse of it, and without it statement by statement: they are the same', async () => {
    const own = program()
    const [name = ''] = builtIn(own)
    const remark = `comment on table star.fact_timesheet is 'of the copy'`
    await on(join(own, 'dist', name), engine => engine.run(remark))
    const [copied, made] = [newFile(), newFile()]
    await syncedInto(own, copied)
    rmSync(join(own, 'dist', name))
    await syncedInto(own, made)
    const statement = `select comment from duckdb_tables() where schema_name = 'star' and table_name = 'fact_timesheet'`
    expect(await on(copied, engine => engine.rows(statement))).toEqual([{ comment: 'of the copy' }])
    const found = await on(made, async engine => ({
      all: withoutTimes(await contents(engine)),
      structure: await structureOf(engine),
      comment: await engine.rows(statement),
    }))
    expect(found.comment).not.toEqual([{ comment: 'of the copy' }])
    await on(copied, async engine => {
      const words = String((found.comment[0] as { comment: string }).comment).replaceAll("'", "''")
      await engine.run(`comment on table star.fact_timesheet is '${words}'`)
      expect(await structureOf(engine)).toEqual(found.structure)
      expectSame(withoutTimes(await contents(engine)), found.all)
    })
  })

  /** DuckDB nests the parts of a view's text otherwise once it has read it from its log. */
  const withoutNesting = (found: Contents): Contents => ({
    ...found,
    views: found.views.map(view => ({ ...view, sql: String(view.sql).replaceAll(/[()\s]/g, '') })),
  })

  test('makes it statement by statement where its file is damaged', async () => {
    const own = program()
    const [name = ''] = builtIn(own)
    writeFileSync(join(own, 'dist', name), 'no database')
    const file = newFile()
    await syncedInto(own, file)
    await on(file, async engine =>
      expectSame(withoutNesting(withoutTimes(await contents(engine))), withoutNesting(withoutTimes(made))),
    )
  })

  test.each([0, 40, 80, 120, 160, 240])(
    'killed %i ms after the file appeared, it is completed by the next',
    async ms => {
      const file = newFile()
      const child = sync(root, file)
      await expect.poll(() => existsSync(file), { timeout: 30_000, interval: 2 }).toBe(true)
      await setTimeout(ms)
      child.kill('SIGKILL')
      await once(child, 'close')
      await on(file, async engine => {
        await migrate(engine, now)
        const found = withoutTimes(await contents(engine))
        expectSame(withoutNesting(found), withoutNesting(withoutTimes(made)))
      })
    },
  )
})
