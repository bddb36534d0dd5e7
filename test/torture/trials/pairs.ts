/** Every two commands at the same time on one warehouse, in turn; several pairs, then one look at all rows. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Rng } from '../../../src/lib/rng.ts'
import type { Arena, Place } from '../arena.ts'
import { commandsOf, nameOf } from '../commands.ts'
import { complaint, isInTheWay } from '../program.ts'
import { defined, type Trial } from '../trial.ts'

const inARow = 4

/** Each with itself and with every other. */
function pairsOf(all: readonly string[]): [string, string][] {
  return all.flatMap((one, index) => all.slice(index).map((other): [string, string] => [one, other]))
}

interface Meeting {
  readonly arena: Arena
  readonly place: Place
  readonly rng: Rng
}

async function meet({ arena, place, rng }: Meeting, [one, other]: [string, string]) {
  const first = arena.start(place, one)
  await Promise.race([wait(rng() * arena.usualMs(one) * 0.8), first.ended])
  const second = arena.start(place, other)
  const ends = await Promise.all([first.ended, second.ended])
  for (const output of ['copied.duckdb', 'copied.duckdb.wal', 'cwd/out'])
    rmSync(join(place.folder, output), { recursive: true, force: true })
  const broken = defined(ends.map(end => (isInTheWay(end) ? undefined : complaint(end, [0, 3, 75]))))
  return broken.map(text => `${one} beside ${other}: ${text}`)
}

export const pairs: Trial = async (arena, rng, turn) => {
  const place = await arena.fresh()
  const all = pairsOf(commandsOf(arena.engine, place))
  const chosen = Array.from(
    { length: inARow },
    (_, n) => all[(turn * inARow + n) % all.length] as [string, string],
  )
  const broken: string[] = []
  for (const pair of chosen) broken.push(...(await meet({ arena, place, rng }, pair)))
  const names = chosen.map(pair => pair.map(nameOf).join(' + '))
  const atRest = await arena.complaintAtRest(place)
  if (atRest) broken.push(`${names.join(', ')}: ${atRest}`)
  await arena.remove(place)
  return { blows: inARow, broken, names }
}
