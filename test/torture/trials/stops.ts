/** SIGSTOP in the middle, another command meanwhile, then SIGCONT: the two never undo each other's work. */
import { setTimeout as wait } from 'node:timers/promises'
import { complaint } from '../program.ts'
import { defined, drawn, type Trial } from '../trial.ts'

const stoppable = ['sync --quiet', 'replay --quiet', 'build --all --quiet', 'sweep --quiet'] as const
/** A lock that is held is 75; 1 is told by the message. */
const codes = [0, 1, 3, 75]

export const stops: Trial = async (arena, rng) => {
  const place = await arena.fresh()
  const first = arena.start(place, drawn(rng, stoppable))
  await Promise.race([wait(rng() * arena.usualMs), first.ended])
  first.child.kill('SIGSTOP')
  const second = arena.start(place, drawn(rng, stoppable))
  await Promise.race([wait(rng() * 3 * arena.usualMs), second.ended])
  first.child.kill('SIGCONT')
  const ends = await Promise.all([first.ended, second.ended])
  const broken = [...ends.map(end => complaint(end, codes)), await arena.complaintAtRest(place)]
  await arena.remove(place)
  return { blows: 1, broken: defined(broken) }
}
