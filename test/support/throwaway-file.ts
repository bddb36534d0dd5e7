/** Closes a warehouse whose file nobody reads again. */
import { rmSync } from 'node:fs'
import type { Engine } from '../../src/warehouse/engine.ts'

/** Closing writes the log into the file, which takes 30 ms after one record and 400 ms after a whole sync. */
export async function throwAway(engine: Engine | undefined): Promise<void> {
  if (engine?.kind === 'duckdb') {
    await engine.run('pragma disable_checkpoint_on_shutdown').catch(() => undefined)
    rmSync(`${engine.location}.wal`, { force: true })
  }
  await engine?.close()
}
