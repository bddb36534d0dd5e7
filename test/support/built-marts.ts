/** Every mart over all that the sandbox knows, built as a build does. */
import { seededRng } from '../../src/lib/rng.ts'
import { buildMarts } from '../../src/marts/build.ts'
import { readMarts } from '../../src/marts/mart.ts'
import { openGate } from '../../src/marts/rebuild.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { filledAt } from './filled-warehouse.ts'

/** Throws an Error that names the marts that were not built. */
export async function buildAll(engine: Engine): Promise<void> {
  const { marts } = await buildMarts(
    {
      engine,
      clock: { now: () => Date.parse(filledAt), sleep: async () => undefined },
      rng: seededRng(1),
      signal: new AbortController().signal,
      version: 'test',
      gate: openGate,
      onMart: () => undefined,
    },
    { marts: readMarts(), names: [], all: false },
  )
  const failed = marts
    .filter(({ state }) => state !== 'built')
    .map(({ name, message }) => `${name}: ${message}`)
  if (failed.length > 0) throw new Error(failed.join('\n'))
}
