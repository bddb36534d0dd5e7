/** Fails a statement that would wait for ever: one that waits for the block of which it is part. */
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'
import type { Engine, EngineWork } from '../../src/warehouse/engine.ts'

/** Engines whose turns the blocks around the caller hold. */
const held = new AsyncLocalStorage<readonly Engine[]>()

function requireFree(engine: Engine): void {
  if (held.getStore()?.includes(engine))
    throw new Error('this statement waits for its own block: use the connection that the block got')
}

/** `main` is the engine that was opened: a transaction of any of its connections holds the turns of that one too. */
export function guardedEngine(engine: Engine, main?: Engine): Engine {
  const block =
    (begin: <Result>(work: EngineWork<Result>) => Promise<Result>) =>
    async <Result>(work: EngineWork<Result>): Promise<Result> => {
      requireFree(guarded)
      const holding = [...(held.getStore() ?? []), guarded, main ?? guarded]
      // Bound, as a queue runs what waits in the context of what ended before it.
      return begin(
        AsyncResource.bind((inner: Engine) =>
          held.run(holding, () => work(guardedEngine(inner, main ?? guarded))),
        ),
      )
    }
  const guarded: Engine = {
    ...engine,
    get stage() {
      return engine.stage === engine ? guarded : engine.stage
    },
    async rows(sql, values) {
      requireFree(guarded)
      return engine.rows(sql, values)
    },
    async run(sql, values) {
      requireFree(guarded)
      return engine.run(sql, values)
    },
    transaction: block(work => engine.transaction(work)),
    merge: block(work => engine.merge(work)),
    exclusive: block(work => engine.exclusive(work)),
    inOneSnapshot: engine.isShared ? block(work => engine.inOneSnapshot(work)) : work => work(guarded),
    async staging(work) {
      return engine.staging(
        AsyncResource.bind((inner: Engine, release: () => void) =>
          work(guardedEngine(inner, main ?? guarded), release),
        ),
      )
    },
  }
  return guarded
}
