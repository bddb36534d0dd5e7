/**
 * `npm run torture -- --minutes N`: the built program is killed, stopped, starved and given wrong answers, and run beside itself; ends
 * with a table, and with 1 when something broke. `--engine duckdb|postgres`, `--only kills,pairs`, `--seed N` for another
 * draw, `--clock-shift -2h,0,2d` for commands whose machine is set wrong, `--beside forget,discover` for pairs with these only, `--pairs FILE` for those that it names one a line as the list at the
 * end does, `--rounds N` for so many trials of each kind instead of a time, `--from N` for the first of them. With
 * `--results FILE` an invocation goes on where the last one ended, and the table is of all of them.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { namedRng } from '../../src/lib/rng.ts'
import { shiftsOf, withJoinedShift } from '../support/clock-shift.ts'
import { Arena } from './arena.ts'
import { Results } from './results.ts'
import type { Trial } from './trial.ts'
import { damagedLanding } from './trials/damaged-landing.ts'
import { fullDisks } from './trials/full-disks.ts'
import { hostileSql } from './trials/hostile-sql.ts'
import { kills } from './trials/kills.ts'
import { mutatedAnswers } from './trials/mutated-answers.ts'
import { pairs } from './trials/pairs.ts'
import { signals } from './trials/signals.ts'
import { stops } from './trials/stops.ts'

const names = 'kills,signals,stops,pairs,full-disks,damaged-landing,mutated-answers,hostile-sql'

const { values } = parseArgs({
  args: withJoinedShift(process.argv.slice(2)),
  options: {
    beside: { type: 'string' },
    'clock-shift': { type: 'string' },
    pairs: { type: 'string' },
    minutes: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '1000000' },
    engine: { type: 'string', default: 'duckdb,postgres' },
    only: { type: 'string', default: names },
    seed: { type: 'string', default: '1' },
    from: { type: 'string' },
    results: { type: 'string' },
  },
})

const trials: Readonly<Record<string, Trial>> = {
  kills,
  signals,
  stops,
  pairs: pairs({
    beside: values.beside?.split(','),
    named: values.pairs === undefined ? undefined : readFileSync(values.pairs, 'utf8').trim().split('\n'),
  }),
  'full-disks': fullDisks,
  'damaged-landing': damagedLanding,
  'mutated-answers': mutatedAnswers,
  'hostile-sql': hostileSql,
}

const chosen = values.only.split(',')
for (const name of chosen) if (!trials[name]) throw new Error(`there is no ${name}: give some of ${names}`)

const root = mkdtempSync(join(tmpdir(), 'muster-torture-'))
const until = performance.now() + Number(values.minutes) * 60_000
const seed = Number(values.seed)
const clockShifts = values['clock-shift'] === undefined ? [] : shiftsOf(values['clock-shift'])
const shifted = clockShifts.length === 0 ? '' : ` --clock-shift=${values['clock-shift']}`
const results = new Results(values.results)

/** Linux counts what ended children used, in hundredths of a second. */
function cpuSeconds(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? []
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100
}

async function tryOne(arena: Arena, trial: string, turn: number): Promise<void> {
  const { engine } = arena
  const key = `${trial.padEnd(16)} ${engine.padEnd(9)}`
  const rng = namedRng(seed, `${key} ${turn}`)
  arena.drawClocks(clockShifts, namedRng(seed, `clocks ${key} ${turn}`))
  const before = cpuSeconds()
  const outcome = await (trials[trial] as Trial)(arena, rng, turn)
  const used = cpuSeconds() - before
  results.add({ trial, engine, seed, turn, cpuSeconds: used, ...outcome })
  const held = outcome.broken.length === 0 ? 'held' : 'broken'
  console.error(`${key} ${turn}: ${held}, ${outcome.blows} blows, ${used.toFixed(0)} s of the processor`)
  for (const text of outcome.broken)
    console.log(
      `${trial} ${engine} ${turn}: ${text}\n  again: --engine ${engine} --only ${trial} --seed ${seed} --from ${turn} --rounds 1${shifted}`,
    )
}

const arenas: Arena[] = []
for (const engine of values.engine.split(','))
  arenas.push(await Arena.open(engine === 'postgres' ? 'postgres' : 'duckdb', root))
for (let round = 0; round < Number(values.rounds) && performance.now() < until; round += 1)
  for (const name of chosen)
    for (const arena of arenas) {
      const first = values.from === undefined ? undefined : Number(values.from) + round
      if (performance.now() < until)
        await tryOne(arena, name, first ?? results.nextTurn(name, arena.engine, seed))
    }
for (const arena of arenas) await arena.close()
rmSync(root, { recursive: true, force: true })

for (const line of [...results.table(), ...results.names()]) console.log(line)
process.exitCode = results.anyBroken ? 1 : 0
