/**
 * `npm run bench`: syncs of 100,000 timesheets beside the floor, and a rebuild of all marts over 1,000,000.
 * `npm run bench -- NAME` runs one of the table below.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '../../src/state/migrate.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import { printLosses } from '../peers/losses.ts'
import { comparePeers } from '../peers/peers.ts'
import { benchDashboard } from './dashboard.ts'
import { benchFirst } from './first.ts'
import { printFreshness } from './freshness.ts'
import { benchGrowth } from './growth.ts'
import { benchLake } from './lake.ts'
import { benchLimited } from './limited.ts'
import { buildAll } from './marts.ts'
import { comparePostgres, millionPostgres } from './postgres.ts'
import { benchPostgresMarts } from './postgres-marts.ts'
import { benchReceiver } from './receiver.ts'
import { printNights } from './runs.ts'
import { benchScale } from './scale.ts'
import { benchSmall } from './small.ts'
import { benchSpark } from './spark-marts.ts'
import { compareDuckdb, loadOnce } from './timesheets.ts'

async function benchNights(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-bench-'))
  const engine = await openDuckdb(join(folder, 'bench.duckdb'))
  try {
    await migrate(engine, new Date().toISOString())
    await printNights({ engine, landing: join(folder, 'bench.landing') }, line => console.log(line))
  } finally {
    await engine.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

const count = 100_000

const benches: Readonly<Record<string, (...given: (string | undefined)[]) => Promise<void> | void>> = {
  without: () => compareDuckdb({ count, timelogs: 'without' }),
  with: () => compareDuckdb({ count, timelogs: 'with' }),
  /** Nothing new and 500 changed of 100,000; `small FOLDER` measures the program built in another folder as well. */
  small: beside => benchSmall({ count, rounds: 7, ...(beside && { beside }) }),
  /** A first sync of the sandbox, one with nothing new, and a replay; with another program as above. */
  first: beside => benchFirst({ rounds: 3, ...(beside && { beside }) }),
  /** 500 changed where so many are stored, beside 100,000; `scale 3000000 3 20000` for a count, rounds, and beside 20,000. */
  scale: (stored, rounds, synced) =>
    benchScale({
      stored: Number(stored ?? 1_000_000),
      rounds: Number(rounds ?? 3),
      synced: Number(synced ?? count),
    }),
  /** All marts over 1,000,000 timesheets; `marts 10000000 1` for a count and rounds. */
  marts: (timesheets, rounds) => buildAll(Number(timesheets ?? 1_000_000), Number(rounds ?? 3)),
  /** Pages and filters of the dashboard over 1,000,000 timesheets; `dashboard duckdb` or `postgres` for one engine. */
  dashboard: engine => benchDashboard(engine),
  /** 1,000,000 timesheets, for the memory; `million 10000000 with` for a count, and with timelogs. */
  million: (timesheets, timelogs) =>
    loadOnce({
      count: Number(timesheets ?? 1_000_000),
      timelogs: timelogs === 'with' ? 'with' : 'without',
    }),
  /** Nothing new and 500 changed of 1,000,000 timesheets in a lake; `lake 10000000` for a count. */
  lake: timesheets => benchLake(Number(timesheets ?? 1_000_000)),
  /** Marts on Spark beside DuckDB, from a lake; `spark 10000000 20 2` for timesheets, connections, and those that Spark computes. */
  spark: (timesheets, connections, computed) => {
    const all = Number(connections ?? 4)
    return benchSpark(Number(timesheets ?? 1_000_000), all, Number(computed ?? all))
  },
  /** A first load under a key's limit: `limited 60 4` for 60 requests a minute and 20,000 timesheets. */
  limited: (perMinute, scale) =>
    benchLimited({ perMinute: Number(perMinute ?? 60), scale: Number(scale ?? 4) }),
  /** How a file grows over daily syncs: `growth 2000 100 20` for a count, days, and what changes on each. */
  growth: (timesheets, days, changed) =>
    benchGrowth({
      count: Number(timesheets ?? 2_000),
      days: Number(days ?? 30),
      changed: Number(changed ?? 20),
    }),
  postgres: () => comparePostgres({ count, timelogs: 'without' }),
  'postgres-million': () => millionPostgres(),
  /** Marts and cross-check on PostgreSQL beside DuckDB; `postgres-marts 10 14` for a scale and an older server. */
  'postgres-marts': (scale, version) => benchPostgresMarts(scale, version),
  /** How webhooks are taken in, for 30 s or as many as are given. */
  receiver: seconds => benchReceiver(Number(seconds ?? 30)),
  /** Muster beside dlt and a script by hand; `peers 20000 3 duckdb` for a count, rounds and one engine. */
  peers: (timesheets, rounds, engine) =>
    comparePeers(Number(timesheets ?? 5000), Number(rounds ?? 3), engine),
  /** What each of them loses when the source moves while it reads. */
  losses: timesheets => printLosses(Number(timesheets ?? 10_000)),
  /** Simulates the refresh policy; needs no service. */
  freshness: () => printFreshness(line => console.log(line)),
  /** Six nights with 2,000 requests each. */
  nights: () => benchNights(),
}

const [name, ...given] = process.argv.slice(2)
for (const one of name === undefined ? ['without', 'with', 'marts'] : [name]) {
  const bench = benches[one]
  if (!bench) throw new Error(`there is no bench ${one}: name one of ${Object.keys(benches).join(', ')}`)
  await bench(...given)
}
