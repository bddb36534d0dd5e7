/** Shares the warehouse within `muster serve`: one job at a time, and a file is closed while a command writes to it. */
import PQueue from 'p-queue'
import type { Engine } from '../warehouse/engine.ts'

export interface EngineHandle {
  /** Waits for its turn. Throws if opening fails, and tries again at the next call. */
  use<Result>(work: (engine: Engine) => Promise<Result>): Promise<Result>
  /** Runs work that opens the warehouse itself: closes a file first, since it has one writer, and reopens it on demand. */
  whileReleased<Result>(work: () => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

export function createEngineHandle(open: () => Promise<Engine>): EngineHandle {
  const turns = new PQueue({ concurrency: 1 })
  let engine: Engine | undefined
  const close = async (): Promise<void> => {
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
    whileReleased: work =>
      turns.add(async () => {
        // A server allows many writers: this session stays open.
        if (!engine?.isShared) await close()
        return work()
      }),
    close: () => turns.add(close),
  }
}
