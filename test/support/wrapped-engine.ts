/** An engine of which a test replaces some methods, on every connection that it passes to work as well. */
import type { Engine } from '../../src/warehouse/engine.ts'

export function wrappedEngine(engine: Engine, replace: (engine: Engine) => Partial<Engine>): Engine {
  const wrap = (inner: Engine): Engine => wrappedEngine(inner, replace)
  const wrapped: Engine = {
    ...engine,
    get stage() {
      return engine.stage === engine ? wrapped : engine.stage
    },
    transaction: work => engine.transaction(inner => work(wrap(inner))),
    merge: work => engine.merge(inner => work(wrap(inner))),
    exclusive: work => engine.exclusive(inner => work(wrap(inner))),
    staging: work => engine.staging((inner, release) => work(wrap(inner), release)),
    ...replace(engine),
  }
  return wrapped
}
