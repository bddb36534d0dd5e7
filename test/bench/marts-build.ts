/** The marts of a warehouse with their checks: `marts-build.ts FILE`. Prints figures as JSON, of this process only. */
import { systemClock } from '../../src/lib/clock.ts'
import { buildMarts } from '../../src/marts/build.ts'
import { everyCheck, martGate } from '../../src/marts/checks/gate.ts'
import { readMarts } from '../../src/marts/mart.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'

const [file = ''] = process.argv.slice(2)
const started = performance.now()
const engine = await openDuckdb(file)
const marts = readMarts()
const built = await buildMarts(
  {
    engine,
    clock: systemClock,
    rng: Math.random,
    signal: new AbortController().signal,
    version: 'bench',
    gate: martGate(everyCheck(marts)),
    onMart: () => undefined,
  },
  { marts, names: [], all: true },
)
await engine.close()
const peakMegabytes = Math.round(process.resourceUsage().maxRSS / 1024)
const { user, system } = process.cpuUsage()
console.log(
  JSON.stringify({
    ms: performance.now() - started,
    cpuMs: (user + system) / 1000,
    peakMegabytes,
    marts: built.marts,
  }),
)
