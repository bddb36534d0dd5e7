/**
 * The rows of star, pii and history after three nights of one seed, as digests that were taken once: whoever changes them
 * changes what the product says of the same source. `MUSTER_GOLDEN=write` takes them anew.
 */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { comparedTables, selectOf, syncNights } from './compared.ts'
import { useEngines, type Warehouse } from './fixture.ts'

const engines = useEngines()
const file = new URL('golden.json', import.meta.url)

interface Digest {
  readonly rows: number
  readonly sha256: string
}

async function digestsOf({ engine }: Warehouse): Promise<Record<string, Digest>> {
  const digests: Record<string, Digest> = {}
  for (const table of await comparedTables(engine)) {
    if (table.schema === 'ops') continue
    // Runs are named by chance.
    const columns = table.columns.filter(column => column !== 'run_id')
    const rows = (await engine.rows(selectOf({ ...table, columns }))).map(row => JSON.stringify(row)).sort()
    const sha256 = createHash('sha256').update(rows.join('\n')).digest('hex')
    digests[`${table.schema}.${table.name}`] = { rows: rows.length, sha256 }
  }
  return digests
}

test.each(['duckdb', 'postgres'] as const)(
  'three nights give the rows they always gave (%s)',
  async name => {
    const sandbox = await openSandbox({ scale: 1, rateLimitPerDay: 10_000_000 })
    const warehouse = await engines[name]()
    await syncNights(sandbox, [warehouse], { nights: 3, changes: 500 })
    const digests = await digestsOf(warehouse)
    if (process.env.MUSTER_GOLDEN === 'write' && name === 'duckdb')
      writeFileSync(file, `${JSON.stringify(digests, null, 2)}\n`)
    expect(digests).toEqual(JSON.parse(readFileSync(file, 'utf8')))
  },
  600_000,
)
