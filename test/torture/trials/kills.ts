/** SIGKILL at random moments of random commands, many in a row; then everything is as if nothing had been. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Rng } from '../../../src/lib/rng.ts'
import type { Arena, Place } from '../arena.ts'
import { commandsOf, resources } from '../commands.ts'
import { complaint, isInTheWay } from '../program.ts'
import { defined, drawn, type Trial } from '../trial.ts'

/** One look at all rows costs as much as four kills. */
const inARow = 20

/** Most often the sync of one resource: it comes to every step in a third of the time that a sync of all takes. */
function victim(arena: Arena, place: Place, rng: Rng): string {
  const draw = rng()
  if (draw < 0.55) return `sync ${drawn(rng, resources)} --quiet`
  return draw < 0.7 ? 'sync --quiet' : drawn(rng, commandsOf(arena.engine, place))
}

export const kills: Trial = async (arena, rng, turn) => {
  const place = turn % 6 === 0 ? await arena.empty() : await arena.fresh()
  let blows = 0
  const broken: (string | undefined)[] = []
  const done: string[] = []
  for (let n = 0; n < inARow; n += 1) {
    const words = victim(arena, place, rng)
    const { child, ended } = arena.start(place, words)
    await Promise.race([wait(rng() * arena.defaultMs(words)), ended])
    child.kill('SIGKILL')
    const end = await ended
    done.push(`${words} ${Math.round(end.ms)} ms ${end.code ?? 'killed'}`)
    if (end.code === null) blows += 1
    else if (!isInTheWay(end)) broken.push(complaint(end, [0, 3, 75]))
    arena.learn(end)
  }
  const atRest = await arena.complaintAtRest(place)
  if (atRest) broken.push(`${atRest}; after ${done.join(', ')}`)
  await arena.remove(place)
  return { blows, broken: defined(broken) }
}
