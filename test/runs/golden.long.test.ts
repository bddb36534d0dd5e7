/**
 * The rows of star, pii and history after three nights of one seed, as digests: whoever changes them changes what the product
 * says of the same source. A change on purpose is accepted by `npm run accept -- rows`.
 */
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { comparedTables, type Named, selectOf, syncNights } from '../support/compared-warehouses.ts'
import { useEngines, type Warehouse } from '../support/warehouse-fixture.ts'

const engines = useEngines()

const digest = (texts: readonly string[]): string =>
  createHash('sha256').update(texts.toSorted().join('\n')).digest('hex').slice(0, 12)

/** A line for the rows of a table, and one for each of its columns, so that a difference has a name. */
async function linesOf({ engine }: Warehouse, { schema, name, columns }: Named): Promise<string[]> {
  const rows = await engine.rows<Record<string, unknown>>(selectOf({ schema, name, columns }))
  const table = `${schema}.${name}`
  return [
    `${table} ${rows.length} rows ${digest(rows.map(row => JSON.stringify(row)))}`,
    ...columns.map(
      column => `${table}.${column} ${digest(rows.map(row => JSON.stringify(row[column] ?? null)))}`,
    ),
  ]
}

/** Of every table after three nights. */
async function textOn(name: 'duckdb' | 'postgres'): Promise<string> {
  const sandbox = await openSandbox({ scale: 1, rateLimitPerDay: 10_000_000 })
  const warehouse = await engines[name]()
  await syncNights(sandbox, [warehouse], { nights: 3, changes: 500 })
  const lines: string[] = []
  for (const table of await comparedTables(warehouse.engine)) {
    if (table.schema === 'ops') continue
    // Runs are named by chance.
    const columns = table.columns.filter(column => column !== 'run_id')
    lines.push(...(await linesOf(warehouse, { ...table, columns })))
  }
  return `${lines.join('\n')}\n`
}

let ofDuckdb: Promise<string> | undefined
const onDuckdb = (): Promise<string> => {
  ofDuckdb ??= textOn('duckdb')
  return ofDuckdb
}

test('three runs give the recorded rows', async () => {
  await expect(await onDuckdb()).toMatchFileSnapshot('golden.txt')
}, 600_000)

// With what DuckDB has just given, and not with the file: `--update` would write whatever PostgreSQL has into it.
test('PostgreSQL has the same rows as DuckDB', async () => {
  expect((await textOn('postgres')).split('\n')).toEqual((await onDuckdb()).split('\n'))
}, 1_200_000)
