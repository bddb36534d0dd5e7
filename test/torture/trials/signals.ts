/** SIGTERM or SIGINT, once or twice, at random moments: the end comes soon, with a documented code, and loses nothing. */
import { setTimeout as wait } from 'node:timers/promises'
import { commandsOf } from '../commands.ts'
import { complaint } from '../program.ts'
import { defined, drawn, type Trial } from '../trial.ts'

const maxMs = 5_000

export const signals: Trial = async (arena, rng) => {
  const place = await arena.fresh()
  const words = drawn(rng, commandsOf(arena.engine, place))
  const { child, ended } = arena.start(place, words)
  await Promise.race([wait(rng() * arena.defaultMs(words)), ended])
  const signal = drawn(rng, ['SIGTERM', 'SIGINT'] as const)
  const since = performance.now()
  const isRunning = child.exitCode === null
  child.kill(signal)
  const isTwice = rng() < 0.3
  if (isTwice) {
    await Promise.race([wait(rng() * 300), ended])
    child.kill(signal)
  }
  const end = await ended
  arena.learn(end)
  const ms = isRunning ? performance.now() - since : 0
  const bySignal = end.code === null && end.signal === signal
  const broken = [
    bySignal ? undefined : complaint(end, [0, 3, 75, 130, 143]),
    ms > maxMs ? `${words}: ${signal} was heard after ${Math.round(ms)} ms` : undefined,
    await arena.complaintAtRest(place),
  ]
  await arena.remove(place)
  return { blows: isRunning ? 1 : 0, broken: defined(broken), slowestMs: ms }
}
