/** SIGSTOP in the middle, another command meanwhile, then SIGCONT: the two never undo each other's work. */
import { setTimeout as wait } from 'node:timers/promises'
import { complaint } from '../program.ts'
import { defined, drawn, type Trial } from '../trial.ts'

const stoppable = ['sync --quiet', 'replay --quiet', 'build --all --quiet', 'sweep --quiet'] as const
const codes = [0, 3, 75]

export const stops: Trial = async (arena, rng) => {
  const place = await arena.fresh()
  const words = drawn(rng, stoppable)
  const first = arena.start(place, words)
  await Promise.race([wait(rng() * arena.defaultMs(words)), first.ended])
  first.child.kill('SIGSTOP')
  const meanwhile = drawn(rng, stoppable)
  const second = arena.start(place, meanwhile)
  await Promise.race([wait(rng() * 3 * arena.defaultMs(meanwhile)), second.ended])
  first.child.kill('SIGCONT')
  const ends = await Promise.all([first.ended, second.ended])
  const broken = [...ends.map(end => complaint(end, codes)), await arena.complaintAtRest(place)]
  await arena.remove(place)
  return { blows: 1, broken: defined(broken) }
}
