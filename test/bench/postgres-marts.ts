/**
 * `npm run bench -- postgres-marts SCALE VERSION`: all marts, and the cross-check, of one source on PostgreSQL beside DuckDB, in
 * turn. By the clock, as most of what PostgreSQL does is the server's.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { startOlder } from '../support/older-postgres.ts'
import { type OwnServer, startPostgres } from '../support/postgres-server.ts'
import { startSandbox } from './own-sandbox.ts'
import { root } from './root.ts'
import { muster } from './spent.ts'
import { median, seconds } from './sync-run.ts'

const rounds = 5

const works = { marts: ['build', '--all', '--quiet'], 'cross-check': ['crosscheck', '--quiet'] } as const

type Engine = 'DuckDB' | 'PostgreSQL'

/** Milliseconds of each round. */
type Times = Record<keyof typeof works, Record<Engine, number[]>>

interface Compared {
  readonly url: string
  readonly warehouses: Readonly<Record<Engine, string>>
}

async function timed(
  { url, warehouses }: Compared,
  engine: Engine,
  args: readonly string[],
): Promise<number> {
  const at = { url, key: sandboxKeys.company, warehouse: warehouses[engine] }
  const { wall } = await muster(root, args, at)
  return wall * 1000
}

/** The first time of each makes what the others only fill, and is not counted. */
async function inTurn(compared: Compared): Promise<Times> {
  const times: Times = {
    marts: { DuckDB: [], PostgreSQL: [] },
    'cross-check': { DuckDB: [], PostgreSQL: [] },
  }
  for (let round = 0; round <= rounds; round += 1)
    for (const [work, args] of Object.entries(works) as [keyof Times, readonly string[]][])
      for (const engine of ['DuckDB', 'PostgreSQL'] as const) {
        const ms = await timed(compared, engine, args)
        if (round > 0) times[work][engine].push(ms)
      }
  return times
}

function print(times: Times): void {
  for (const [work, { DuckDB, PostgreSQL }] of Object.entries(times)) {
    const [file, server] = [median(DuckDB), median(PostgreSQL)]
    const ratio = (server / file).toFixed(2)
    console.log(
      `  ${work.padEnd(12)} DuckDB ${seconds(file)} s  PostgreSQL ${seconds(server)} s  ratio ${ratio}`,
    )
  }
}

const newest = (): Promise<OwnServer> => startPostgres()

export async function benchPostgresMarts(scale = '1', version?: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-bench-'))
  const server = await (version ? startOlder(version) : newest())
  const sandbox = await startSandbox([
    '--scale',
    scale,
    '--limit-per-minute',
    '50000',
    '--limit-per-day',
    '50000',
  ])
  const compared = {
    url: sandbox.url,
    warehouses: { DuckDB: `duckdb:${join(folder, 'bench.duckdb')}`, PostgreSQL: `${server.url}/postgres` },
  }
  try {
    for (const engine of ['DuckDB', 'PostgreSQL'] as const) await timed(compared, engine, ['sync', '--quiet'])
    console.log(
      `a sandbox of scale ${scale}, PostgreSQL ${version ?? 'of the tests'}, medians of ${rounds} rounds in turn`,
    )
    print(await inTurn(compared))
  } finally {
    sandbox.stop()
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
