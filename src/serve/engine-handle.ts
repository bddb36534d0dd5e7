/** The warehouse of a process that serves: one job at a time, and a file is given up while a command has it. */
import PQueue from 'p-queue'
import type { Engine } from '../warehouse/engine.ts'

export interface Door {
  /** Waits for its turn. Throws what opening throws, and opens again the next time. */
  use<Result>(work: (engine: Engine) => Promise<Result>): Promise<Result>
  /** A file has one writer: it is closed before `work` begins, which may open it, and is opened again when needed. */
  away<Result>(work: () => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

export function createDoor(open: () => Promise<Engine>): Door {
  const turns = new PQueue({ concurrency: 1 })
  let engine: Engine | undefined
  const leave = async (): Promise<void> => {
    const opened = engine
    engine = undefined
    await opened?.close()
  }
  return {
    use: work =>
      turns.add(async () => {
        engine ??= await open()
        return work(engine)
      }),
    away: work =>
      turns.add(async () => {
        // A server takes many: its session stays.
        if (engine?.name === 'duckdb') await leave()
        return work()
      }),
    close: () => turns.add(leave),
  }
}
