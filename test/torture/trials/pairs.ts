/** Every two commands at the same time on one warehouse, in turn; several pairs, then one look at all rows. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Rng } from '../../../src/lib/rng.ts'
import type { Arena, Place } from '../arena.ts'
import { commandsOf, isEndless, nameOf } from '../commands.ts'
import { complaint, isInTheWay, type Running } from '../program.ts'
import { defined, type Trial } from '../trial.ts'

const inARow = 8

/** Each with itself and with every other. */
function pairsOf(all: readonly string[]): [string, string][] {
  return all.flatMap((one, index) => all.slice(index).map((other): [string, string] => [one, other]))
}

interface Meeting {
  readonly arena: Arena
  readonly place: Place
  readonly rng: Rng
}

/** A night waits ten minutes for a file that is held, which a server does until it is told to end. */
const patienceMs = 30_000

/** What ends only when it is told to is told once the other has ended or has waited for a while; so are two of them. */
async function endsOf(both: readonly [Running, Running], words: readonly [string, string]) {
  const [endless, others] = [true, false].map(is =>
    both.filter((_, n) => isEndless(words[n] as string) === is),
  )
  if (others?.length === 0) await wait(3_000)
  await Promise.race([Promise.all((others ?? []).map(({ ended }) => ended)), wait(patienceMs)])
  for (const { child } of endless ?? []) child.kill('SIGTERM')
  return Promise.all(both.map(({ ended }) => ended))
}

async function meet({ arena, place, rng }: Meeting, [one, other]: [string, string]) {
  const first = arena.start(place, one)
  await Promise.race([wait(rng() * arena.defaultMs(one) * 0.8), first.ended])
  const second = arena.start(place, other)
  const ends = await endsOf([first, second], [one, other])
  for (const output of ['copied.duckdb', 'copied.duckdb.wal', 'cwd/out'])
    rmSync(join(place.folder, output), { recursive: true, force: true })
  const broken = defined(ends.map(end => (isInTheWay(end) ? undefined : complaint(end, [0, 3, 75]))))
  return broken.map(text => `${one} beside ${other}: ${text}`)
}

const titleOf = (pair: readonly string[]): string => pair.map(nameOf).join(' + ')

export interface Choice {
  /** Pairs with these only, by the first word of a command. */
  readonly beside?: readonly string[] | undefined
  /** These pairs only, as the list at the end names them. */
  readonly named?: readonly string[] | undefined
}

/** Every pair, or those chosen. */
export const pairs =
  ({ beside, named }: Choice): Trial =>
  async (arena, rng, turn) => {
    const place = await arena.fresh()
    const all = pairsOf(commandsOf(arena.engine, place)).filter(
      pair =>
        (!beside || pair.some(words => beside.includes(words.split(' ')[0] as string))) &&
        (!named || named.includes(`${arena.engine}: ${titleOf(pair)}`)),
    )
    if (turn * inARow >= all.length && named) return { blows: 0, broken: [], names: [] }
    const chosen = Array.from(
      { length: named ? Math.min(inARow, all.length - turn * inARow) : inARow },
      (_, n) => all[(turn * inARow + n) % all.length] as [string, string],
    )
    const broken: string[] = []
    for (const pair of chosen) broken.push(...(await meet({ arena, place, rng }, pair)))
    const names = chosen.map(titleOf)
    const atRest = await arena.complaintAtRest(place)
    if (atRest) broken.push(`${names.join(', ')}: ${atRest}`)
    await arena.remove(place)
    return { blows: chosen.length, broken, names }
  }
