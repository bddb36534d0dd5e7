/** SIGKILL at random moments of random commands, several in a row; then everything is as if nothing had been. */
import { setTimeout as wait } from 'node:timers/promises'
import { commandsOf } from '../commands.ts'
import { complaint } from '../program.ts'
import { defined, drawn, type Trial } from '../trial.ts'

const inARow = 8

export const kills: Trial = async (arena, rng, turn) => {
  const place = turn % 4 === 0 ? await arena.empty() : await arena.fresh()
  let blows = 0
  const broken: (string | undefined)[] = []
  for (let n = 0; n < inARow; n += 1) {
    const words = rng() < 0.6 ? 'sync --quiet' : drawn(rng, commandsOf(arena.engine, place))
    const { child, ended } = arena.start(place, words)
    await Promise.race([wait(rng() * arena.usualMs), ended])
    child.kill('SIGKILL')
    const end = await ended
    if (end.code === null) blows += 1
    else broken.push(complaint(end, [0, 1, 3, 75]))
  }
  broken.push(await arena.complaintAtRest(place))
  await arena.remove(place)
  return { blows, broken: defined(broken) }
}
