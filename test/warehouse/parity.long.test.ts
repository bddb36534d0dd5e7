/** The same at full size, where rows are compared as sets. */
import { expect, test } from 'vitest'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { syncBoth } from '../support/compared-warehouses.ts'
import { useEngines } from '../support/warehouse-fixture.ts'
import { differences } from './set-difference.ts'

const engines = useEngines()

test.each([1, 20])('scale %d: 0 rows differ', async scale => {
  const sandbox = await openSandbox({ scale, rateLimitPerDay: 10_000_000 })
  const [duckdb, postgres] = [await engines.duckdb(), await engines.postgres()]
  await syncBoth(sandbox, [duckdb, postgres], 500 * scale)
  const { tables, rows, cells, found } = await differences(duckdb, postgres)
  console.log(
    `scale ${scale}: ${tables} tables, ${rows} rows, ${cells} cells compared; ${found.length} tables differ`,
  )
  expect(found).toEqual([])
  expect(rows).toBeGreaterThan(50_000 * scale)
})
