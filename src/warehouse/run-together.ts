/** Runs many small statements in few calls. */
import type { Engine } from './engine.ts'

/** Each call is a round trip to a server, so thousands of small statements go 200 to a call. */
export async function runTogether(engine: Engine, statements: readonly string[]): Promise<void> {
  const many = 200
  for (let from = 0; from < statements.length; from += many)
    await engine.run(statements.slice(from, from + many).join(';\n'))
}
