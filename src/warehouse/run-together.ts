/** Runs many small statements in few calls. */
import type { Engine } from './engine.ts'

/** Each call is a round trip to a server, and DuckDB waits for this thread between two: with 2,000 statements a call a new file takes 1.8 s of the processor, with 200 it takes 2.0 s. */
export async function runTogether(engine: Engine, statements: readonly string[]): Promise<void> {
  const many = 2_000
  for (let from = 0; from < statements.length; from += many)
    await engine.run(statements.slice(from, from + many).join(';\n'))
}
