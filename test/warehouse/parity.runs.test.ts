/** Both engines hold the same rows, cell by cell. */
import { expect, test } from 'vitest'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { expectSameRows, syncBoth } from '../support/compared-warehouses.ts'
import { thorough } from '../support/long-suite.ts'
import { useEngines } from '../support/warehouse-fixture.ts'

const engines = useEngines()

test('DuckDB and PostgreSQL, after a first sync, a day of changes and a second sync', async () => {
  const sandbox = await openSandbox({ scale: thorough ? 0.015 : 0.006, rateLimitPerDay: 1_000_000 })
  const [duckdb, postgres] = [await engines.duckdb(), await engines.postgres()]
  await syncBoth(sandbox, [duckdb, postgres], 80)
  const alike = await expectSameRows(duckdb.engine, postgres.engine)
  expect(alike).toBeGreaterThan(thorough ? 2_000 : 1_000)
  const [history] = await postgres.engine.rows<{ n: number }>(
    'select count(*) as n from history.fact_timesheet',
  )
  expect(history?.n).toBeGreaterThan(10)
  const [quarantine] = await postgres.engine.rows<{ n: number }>('select count(*) as n from ops.quarantine')
  expect(quarantine?.n).toBe(1)
})
