/**
 * `npm run simulate -- --seeds A-B`: whole nights of random histories, in this process and in simulated time. One seed alone
 * tells what happens in it. `--engine duckdb|postgres`, `--verbose` tells every step, `--without ties,kills` leaves out
 * changes, faults, lies and options, `--small` keeps to one list and two nights, `--plant NAME` puts a fault into Muster, `--first` ends at the first seed that breaks a
 * law, `--minutes N` begins none after so long, `--sometimes` fails where something never happened.
 */
import { accessSync, mkdtempSync, rmSync } from 'node:fs'
import { register } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { planted } from './planted.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1-100' },
    engine: { type: 'string', default: 'duckdb' },
    without: { type: 'string', default: '' },
    plant: { type: 'string' },
    first: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '1000000' },
    small: { type: 'boolean', default: false },
    sometimes: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
})

/** Rows a page: lists of tens of records have many pages then. */
const rowsPerPage = 7

const plant = values.plant === undefined ? undefined : planted[values.plant]
if (values.plant !== undefined && !plant)
  throw new Error(`there is no ${values.plant}: plant one of ${Object.keys(planted).join('; ')}`)

const replaced = [
  { file: 'src/api/client/paging.ts', find: 'pageLimit = 200', put: `pageLimit=${rowsPerPage}` },
  { file: 'src/sync/scan/backfill.ts', find: 'first(task, 20,', put: `first(task,${rowsPerPage},` },
  {
    file: 'src/crosscheck/metrics/their-metrics.ts',
    find: 'rowsPerPage = 200',
    put: `rowsPerPage=${rowsPerPage}`,
  },
  ...(plant ? [plant] : []),
]
// A file that was moved would be loaded as it is.
for (const { file } of replaced) accessSync(new URL(`../../${file}`, import.meta.url))
register('./replaced-source.mjs', { parentURL: import.meta.url, data: replaced })
// Modules of src are loaded from here on.
const { Counts } = await import('./counts.ts')
const { takePorts } = await import('./ports.ts')
const { runSeed } = await import('./seed.ts')
const { neverHappened } = await import('./sometimes.ts')
const { duckdbDisks, postgresDisks } = await import('./warehouses.ts')

const [first = 1, last = first] = values.seeds.split('-').map(Number)
const engine = values.engine === 'postgres' ? 'postgres' : 'duckdb'
const root = mkdtempSync(join(tmpdir(), 'muster-simulate-'))
takePorts(root)
const disks = await { duckdb: duckdbDisks, postgres: postgresDisks }[engine](root)
const counts = new Counts()
const broken: number[] = []
let ran = 0

/** The lines of a seed that is not alone are shown when it breaks a law. */
async function runOne(seed: number): Promise<void> {
  const tell = first === last ? (line: string) => console.log(line) : () => undefined
  ran += 1
  try {
    const narrowed = { without: values.without.split(','), isSmall: values.small }
    await runSeed({ seed, engine, disks, counts, tell, isVerbose: values.verbose, narrowed })
  } catch (error) {
    broken.push(seed)
    const isOurs = error instanceof Error && error.name === 'Broken'
    console.log(isOurs ? error.message : `seed ${seed}: ${error instanceof Error ? error.stack : error}`)
  }
}

const started = performance.now()
const isOver = (): boolean =>
  (values.first && broken.length > 0) || performance.now() - started > Number(values.minutes) * 60_000
for (let seed = first; seed <= last && !isOver(); seed += 1) await runOne(seed)
const seconds = (performance.now() - started) / 1000
const { user, system } = process.cpuUsage()
const busy = (user + system) / 1e6
const nights = counts.of('nights')
const never = values.sometimes ? neverHappened(counts) : []
for (const [what, count] of counts.list()) console.log(`${String(count).padStart(8)} ${what}`)
if (never.length > 0) console.log(`never happened: ${never.join(', ')}`)
console.log(
  `${ran} seeds, ${nights} nights in ${seconds.toFixed(0)} s, ${(seconds / nights).toFixed(2)} s a night, of the processor ${(busy / nights).toFixed(2)} s; ${
    broken.length === 0 ? 'every law held' : `broken by seeds ${broken.join(' ')}`
  }`,
)
await disks.close()
rmSync(root, { recursive: true, force: true })
process.exitCode = broken.length > 0 || never.length > 0 ? 1 : 0
