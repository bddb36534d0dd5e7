/** A build that dies by SIGKILL between the last row of a mart and its commit: `dying-build.ts ADDRESS MART SELECT`. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/lib/clock.ts'
import { seededRng } from '../../src/lib/rng.ts'
import { buildMarts } from '../../src/marts/build.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import { openPostgres } from '../../src/warehouse/postgres/open.ts'
import { companyMart } from './company-mart.ts'

const [address = '', dies = '', extra = ''] = process.argv.slice(2)
const engine = address.startsWith('duckdb:')
  ? await openDuckdb(address.slice('duckdb:'.length))
  : await openPostgres(
      { url: address, shown: 'test' },
      { scratch: join(tmpdir(), `muster-dying-${process.pid}`) },
    )
await buildMarts(
  {
    engine,
    clock: systemClock,
    rng: seededRng(99),
    signal: new AbortController().signal,
    version: 'test',
    gate: async (_, { name }) => {
      if (name === dies) process.kill(process.pid, 'SIGKILL')
      return []
    },
    onMart: () => undefined,
  },
  { marts: [companyMart('a'), companyMart('b', extra ? { columns: [extra] } : {})], names: [], all: true },
)
