/** Every two commands at the same time on one warehouse, in turn. */
import { setTimeout as wait } from 'node:timers/promises'
import { commandsOf } from '../commands.ts'
import { complaint, type Ended } from '../program.ts'
import { defined, type Trial } from '../trial.ts'

/** Each with itself and with every other. */
function pairsOf(all: readonly string[]): [string, string][] {
  return all.flatMap((one, index) => all.slice(index).map((other): [string, string] => [one, other]))
}

/** 1 only where a target is there already or a lock is held, and the line says so. */
const isHeld = ({ code, err }: Ended): boolean =>
  code === 1 && /held|holds|has the warehouse|is running|already|not empty|appeared|meanwhile/.test(err)

export const pairs: Trial = async (arena, rng, turn) => {
  const place = await arena.fresh()
  const all = pairsOf(commandsOf(arena.engine, place))
  const [one, other] = all[turn % all.length] as [string, string]
  const first = arena.start(place, one)
  await Promise.race([wait(rng() * arena.usualMs * 0.5), first.ended])
  const second = arena.start(place, other)
  const ends = await Promise.all([first.ended, second.ended])
  const broken = ends.map(end => (isHeld(end) ? undefined : complaint(end, [0, 3, 75])))
  broken.push(await arena.complaintAtRest(place))
  await arena.remove(place)
  return { blows: 1, broken: defined(broken).map(text => `${one} beside ${other}: ${text}`) }
}
