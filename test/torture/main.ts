/**
 * `npm run torture -- --minutes N`: the built program is killed, stopped, starved and lied to, and run beside itself; ends
 * with a table, and with 1 when something broke. `--engine duckdb|postgres`, `--only kills,pairs`, `--seed N` for another
 * draw, `--rounds N` for so many trials of each kind instead of a time.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { namedRng } from '../../src/lib/rng.ts'
import { Arena } from './arena.ts'
import type { Trial } from './trial.ts'
import { damagedLanding } from './trials/damaged-landing.ts'
import { fullDisks } from './trials/full-disks.ts'
import { hostileSql } from './trials/hostile-sql.ts'
import { kills } from './trials/kills.ts'
import { mutatedAnswers } from './trials/mutated-answers.ts'
import { pairs } from './trials/pairs.ts'
import { signals } from './trials/signals.ts'
import { stops } from './trials/stops.ts'

const trials: Readonly<Record<string, Trial>> = {
  kills,
  signals,
  stops,
  pairs,
  'full-disks': fullDisks,
  'damaged-landing': damagedLanding,
  'mutated-answers': mutatedAnswers,
  'hostile-sql': hostileSql,
}

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '1000000' },
    engine: { type: 'string', default: 'duckdb,postgres' },
    only: { type: 'string', default: Object.keys(trials).join(',') },
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: '0' },
  },
})

interface Row {
  trials: number
  blows: number
  broken: number
  slowestMs: number
}

const chosen = values.only.split(',')
for (const name of chosen)
  if (!trials[name]) throw new Error(`there is no ${name}: give some of ${Object.keys(trials).join(', ')}`)

const root = mkdtempSync(join(tmpdir(), 'muster-torture-'))
const until = performance.now() + Number(values.minutes) * 60_000
const rows = new Map<string, Row>()

async function tryOne(arena: Arena, name: string, turn: number): Promise<void> {
  const key = `${name.padEnd(16)} ${arena.engine.padEnd(9)}`
  const row = rows.get(key) ?? { trials: 0, blows: 0, broken: 0, slowestMs: 0 }
  rows.set(key, row)
  const rng = namedRng(Number(values.seed), `${key} ${turn}`)
  const started = performance.now()
  const { blows, broken, slowestMs = 0 } = await (trials[name] as Trial)(arena, rng, turn)
  const seconds = ((performance.now() - started) / 1000).toFixed(0)
  console.error(`${key} ${turn}: ${broken.length === 0 ? 'held' : 'broken'}, ${seconds} s`)
  row.trials += 1
  row.blows += blows
  row.broken += broken.length
  row.slowestMs = Math.max(row.slowestMs, slowestMs)
  for (const text of broken)
    console.log(
      `${name} ${arena.engine} ${turn}: ${text}\n  again: --engine ${arena.engine} --only ${name} --seed ${values.seed} --from ${turn} --rounds 1`,
    )
}

const arenas: Arena[] = []
for (const engine of values.engine.split(','))
  arenas.push(await Arena.open(engine === 'postgres' ? 'postgres' : 'duckdb', root))
const [first, end] = [Number(values.from), Number(values.from) + Number(values.rounds)]
for (let turn = first; turn < end && performance.now() < until; turn += 1)
  for (const arena of arenas)
    for (const name of chosen) if (performance.now() < until) await tryOne(arena, name, turn)
for (const arena of arenas) await arena.close()
rmSync(root, { recursive: true, force: true })

console.log('trial            engine    trials  blows  broken  slowest ms')
for (const [key, { trials: count, blows, broken, slowestMs }] of rows)
  console.log(
    `${key} ${String(count).padStart(6)} ${String(blows).padStart(6)} ${String(broken).padStart(7)} ${slowestMs.toFixed(0).padStart(11)}`,
  )
process.exitCode = [...rows.values()].some(({ broken }) => broken > 0) ? 1 : 0
