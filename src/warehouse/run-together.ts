/** Many small statements in few calls. */
import type { Engine } from './engine.ts'

/** Thousands of small statements: one call for many of them, as each is a round trip to a server. */
export async function runTogether(engine: Engine, statements: readonly string[]): Promise<void> {
  const many = 200
  for (let from = 0; from < statements.length; from += many)
    await engine.run(statements.slice(from, from + many).join(';\n'))
}
