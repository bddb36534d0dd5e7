/** What holds for every mart in sql/mart, whoever wrote it. */

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { defaultDays } from '../../src/lib/day-rule.ts'
import { seededRng } from '../../src/lib/rng.ts'
import { type BuildResult, buildMarts } from '../../src/marts/build.ts'
import { tableColumns } from '../../src/marts/columns.ts'
import { fillTokens } from '../../src/marts/inputs.ts'
import { inOrder, readMarts } from '../../src/marts/mart.ts'
import { openGate } from '../../src/marts/rebuild.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { quoteNames } from '../../src/warehouse/sql-text.ts'
import { filledAt, useFilled } from '../support/filled-warehouse.ts'
import { useEngines } from '../support/warehouse-fixture.ts'

const marts = readMarts()
const filled = useFilled()
const empty = useEngines()

function build(engine: Engine): Promise<BuildResult> {
  return buildMarts(
    {
      engine,
      clock: { now: () => Date.parse(filledAt), sleep: async () => undefined },
      rng: seededRng(1),
      signal: new AbortController().signal,
      version: 'test',
      gate: openGate,
      onMart: () => undefined,
    },
    { marts, names: [], all: false },
  )
}

const failures = ({ marts: built }: BuildResult) =>
  built.filter(({ state }) => state !== 'built').map(({ name, message }) => `${name}: ${message}`)

describe.each(marts)('mart.$name', mart => {
  test('says what it is, what it reads, and what each column means', () => {
    expect(mart.sources.toSorted()).toEqual([...mart.reads])
    expect(mart.reads.filter(name => /^pii\./.test(name))).toEqual([])
    expect(mart.grain).toMatch(/^one row per /i)
    expect(mart.question).toMatch(/\?$/)
    const names = mart.columns.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    // A sentence, a list of values, or a formula.
    for (const { description } of mart.columns)
      expect(description).toMatch(/^(?:[A-Z'0-9]|\w+ [-/] |[\w ]+, ).{5,}\.$/)
  })
})

describe('every mart', () => {
  let duckdb: Engine
  let postgres: Engine
  beforeAll(async () => {
    duckdb = (await filled.duckdb()).engine
    postgres = (await filled.postgres()).engine
    expect(failures(await build(duckdb))).toEqual([])
    expect(failures(await build(postgres))).toEqual([])
  }, 120_000)

  test('gives the columns of its header, by name and in their order', async () => {
    for (const mart of marts) {
      const select = fillTokens(mart.select, {
        asOf: filledAt,
        today: filledAt.slice(0, 10),
        ...defaultDays,
      })
      const columns = await duckdb.rows<{ column_name: string }>(`describe ${select}`).catch(error => {
        throw new Error(`${mart.name}: ${error.message}`)
      })
      expect({ [mart.name]: columns.map(column => column.column_name) }).toEqual({
        [mart.name]: mart.columns.map(({ name }) => name),
      })
    }
  })

  test('holds the same rows on both engines, cell by cell, and at least one', async () => {
    for (const mart of marts) {
      const names = tableColumns(mart).map(({ name }) => name)
      const rows = async (engine: Engine): Promise<string[]> => {
        const all = await engine.rows(`select ${quoteNames(names)} from mart.${mart.name}`)
        return all.map(row => JSON.stringify(row)).sort()
      }
      const [mine, others] = [await rows(duckdb), await rows(postgres)]
      const [left, right] = [new Set(mine), new Set(others)]
      expect({
        mart: mart.name,
        duckdb: mine.filter(row => !right.has(row)).slice(0, 3),
        postgres: others.filter(row => !left.has(row)).slice(0, 3),
        difference: mine.length - others.length,
      }).toEqual({ mart: mart.name, duckdb: [], postgres: [], difference: 0 })
      // What only tells of the ledger or of changes has nothing to tell of a warehouse that was filled by hand.
      const stars = mart.reads.filter(name => name.startsWith('star.'))
      const isOfChanges = stars.every(name => mart.reads.includes(name.replace('star.', 'history.')))
      const isOfStar = stars.length > 0 && !isOfChanges
      expect({ mart: mart.name, isEmpty: isOfStar && mine.length === 0 }).toEqual({
        mart: mart.name,
        isEmpty: false,
      })
    }
  })

  const page = readFileSync(fileURLToPath(new URL('../../docs/data.md', import.meta.url)), 'utf8')

  test('the queries of docs/data.md run on both engines and find something', async () => {
    const queries = [...page.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, query]) => query ?? '')
    expect(queries.length).toBeGreaterThanOrEqual(3)
    const found = [duckdb, postgres].map(async engine => {
      const counts: number[] = []
      for (const query of queries) counts.push((await engine.rows(query)).length)
      return counts
    })
    const [mine, others] = await Promise.all(found)
    expect(mine).toEqual(others)
    // Nobody needs to be above 48 hours.
    expect(mine?.slice(1).filter(count => count === 0)).toEqual([])
  })

  test('and each of its columns is described in the database', async () => {
    const missing = [
      [
        duckdb,
        `select table_name || '.' || column_name as name from duckdb_columns() where schema_name = 'mart' and comment is null
         union all select table_name from duckdb_tables() where schema_name = 'mart' and comment is null`,
      ],
      [
        postgres,
        `select c.relname || '.' || a.attname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
         where c.relnamespace = 'mart'::regnamespace and c.relkind = 'r' and col_description(c.oid, a.attnum) is null
         union all select relname from pg_class where relnamespace = 'mart'::regnamespace and relkind = 'r' and obj_description(oid) is null`,
      ],
    ] as const
    for (const [engine, sql] of missing) expect(await engine.rows(sql)).toEqual([])
  })

  test.each(['duckdb', 'postgres'] as const)('builds on an empty warehouse (%s)', async name => {
    const { engine } = await empty[name]()
    const outcome = await build(engine)
    expect(failures(outcome)).toEqual([])
    expect(outcome.marts).toHaveLength(inOrder(marts).length)
  })
})
