/** Gives up statements that an alteration made endless. */
import { interruptAll } from '../../../src/warehouse/turns.ts'

const minLimitMs = 10_000
/** Of the time that the unaltered statement took. */
const maxTimes = 10
/** DuckDB heeds no interrupt while it plans. */
const graceMs = 20_000

/** By name of a mart or check. */
const takenMs = new Map<string, number>()

/** What the unaltered statement of this name does; the longest of several counts. */
export async function measured<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  const begun = performance.now()
  const result = await work()
  takenMs.set(name, Math.max(takenMs.get(name) ?? 0, performance.now() - begun))
  return result
}

/** Interrupts an altered statement, which then fails, or else ends this process as a crash would. */
export async function inTime<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  const limitMs = Math.max(minLimitMs, maxTimes * (takenMs.get(name) ?? 0))
  const interrupt = setTimeout(interruptAll, limitMs)
  const kill = setTimeout(() => process.kill(process.pid, 'SIGKILL'), limitMs + graceMs)
  try {
    return await work()
  } finally {
    clearTimeout(interrupt)
    clearTimeout(kill)
  }
}
