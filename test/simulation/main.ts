/**
 * `npm run simulate -- --seeds A-B`: whole nights of random histories, in this process and in simulated time.
 * `--engine duckdb|postgres|both`, `--verbose` tells every step; one seed alone tells what happened in it.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { register } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

/** Rows a page: lists of tens of records have many pages then. */
const rowsPerPage = 7

register('./replaced-source.mjs', {
  parentURL: import.meta.url,
  data: [
    { file: 'src/api/client/paging.ts', find: 'pageLimit = 200', put: `pageLimit=${rowsPerPage}` },
    { file: 'src/sync/scan/backfill.ts', find: 'first(task, 20,', put: `first(task,${rowsPerPage},` },
  ],
})
// Modules of src are loaded from here on.
const { Counts } = await import('./counts.ts')
const { takePorts } = await import('./ports.ts')
const { runSeed } = await import('./seed.ts')
const { duckdbDisks, postgresDisks } = await import('./warehouses.ts')

const makers = { duckdb: duckdbDisks, postgres: postgresDisks }

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1-100' },
    engine: { type: 'string', default: 'duckdb' },
    without: { type: 'string', default: '' },
    verbose: { type: 'boolean', default: false },
  },
})
const [first = 1, last = first] = values.seeds.split('-').map(Number)
const engine = values.engine === 'postgres' ? 'postgres' : 'duckdb'
const root = mkdtempSync(join(tmpdir(), 'muster-simulate-'))
takePorts(root)
const disks = await makers[engine](root)
const counts = new Counts()
const broken: string[] = []
const started = performance.now()
for (let seed = first; seed <= last; seed += 1) {
  const lines: string[] = []
  const isAlone = first === last
  const tell = (line: string): void => {
    if (isAlone) console.log(line)
    else lines.push(line)
  }
  try {
    await runSeed({
      seed,
      engine,
      disks,
      counts,
      tell,
      isVerbose: values.verbose,
      without: values.without.split(','),
    })
  } catch (error) {
    broken.push(`${seed}`)
    console.log(`seed ${seed}`)
    console.log(
      `${
        error instanceof Error
          ? error.stack
              ?.split('\n')
              .slice(0, error.name === 'Error' ? 1 : 6)
              .join('\n')
          : error
      }`,
    )
  }
}
const seconds = (performance.now() - started) / 1000
for (const [what, count] of counts.list()) console.log(`${String(count).padStart(8)} ${what}`)
const nights = counts.of('nights')
console.log(
  `${last - first + 1} seeds, ${nights} nights in ${seconds.toFixed(1)} s, ${(seconds / nights).toFixed(3)} s a night; ${broken.length} broken: ${broken.join(' ')}`,
)
await disks.close()
rmSync(root, { recursive: true, force: true })
process.exitCode = broken.length > 0 ? 1 : 0
