/** Filled warehouses with all marts built, and where tools find them. */
import { seededRng } from '../../src/lib/rng.ts'
import { buildMarts } from '../../src/marts/build.ts'
import { readMarts } from '../../src/marts/mart.ts'
import { openGate } from '../../src/marts/rebuild.ts'
import type { Place } from '../../src/semantic/bundle.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { filledAt } from '../marts/filled-warehouse.ts'
import type { Warehouse } from '../warehouse/fixture.ts'

/** Throws for a mart that was not built. */
export async function buildAll(engine: Engine): Promise<void> {
  const { marts } = await buildMarts(
    {
      engine,
      clock: { now: () => Date.parse(filledAt), sleep: async () => undefined },
      rng: seededRng(1),
      signal: new AbortController().signal,
      version: 'test',
      gate: openGate,
      onMart: () => undefined,
    },
    { marts: readMarts(), names: [], all: false },
  )
  const failed = marts
    .filter(({ state }) => state !== 'built')
    .map(({ name, message }) => `${name}: ${message}`)
  if (failed.length > 0) throw new Error(failed.join('\n'))
}

export function placeOfFile({ address }: Warehouse): Place {
  const database = address.replace(/^duckdb:/, '')
  return { kind: 'file', uri: `duckdb:///${database}`, host: '', port: 0, database, schema: 'mart' }
}

export function placeOfServer({
  address,
}: Warehouse): Place & { readonly user: string; readonly password: string } {
  const { hostname, port, pathname, username, password } = new URL(address)
  const database = pathname.slice(1)
  return {
    kind: 'server',
    uri: `postgresql+psycopg2://${username}:${password}@${hostname}:${port}/${database}`,
    host: hostname,
    port: Number(port),
    database,
    schema: 'mart',
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
  }
}
