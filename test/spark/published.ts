/** Warehouses with marts and superseded versions, published to one lake. */
import { type LakePlace, openLake } from '../../src/lake/store.ts'
import { seededRng } from '../../src/lib/rng.ts'
import { buildMarts } from '../../src/marts/build.ts'
import { readMarts } from '../../src/marts/mart.ts'
import { openGate } from '../../src/marts/rebuild.ts'
import { recordRun } from '../../src/state/runs/runs.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { stateHistory } from '../../src/warehouse/schema/physical.ts'
import { publishTo } from '../lake/lake-of.ts'
import { filledAt } from '../support/filled-warehouse.ts'

/** Two superseded versions of every third record; a sync of a new warehouse leaves none. */
async function addHistory(engine: Engine): Promise<void> {
  for (const [table, columns] of stateHistory) {
    const [key = ''] = columns
    const waited = table.endsWith('timesheet') ? 'pending_approval' : 'pending'
    for (const [status, days] of [
      ['pending', 3],
      [waited, 1],
    ] as const)
      await engine.run(
        `insert into ${table} by name
         select * replace ('${status}' as status, valid_from - interval ${days} days as valid_from), valid_from as valid_to
         from ${table.replace('history', 'star')} where ascii(right(${key}, 1)) % 3 = 0`,
      )
  }
}

/** Throws if a mart is not built. */
export async function publishMarts(engine: Engine, connection: string, lake: LakePlace): Promise<void> {
  const clock = { now: () => Date.parse(filledAt), sleep: async () => undefined }
  const { signal } = new AbortController()
  await addHistory(engine)
  const effects = { engine, clock, rng: seededRng(1), signal, version: 'test', gate: openGate }
  const { marts } = await buildMarts(
    { ...effects, onMart: () => undefined },
    { marts: readMarts(), names: [], all: false },
  )
  const failed = marts.filter(({ state }) => state !== 'built').map(({ name }) => name)
  if (failed.length > 0) throw new Error(`not built: ${failed.join(', ')}`)
  // Warehouses of one seed begin with a run of the same id, which would make them one warehouse.
  await recordRun(engine, {
    runId: `0000-${connection}`,
    command: 'sync',
    arguments: '',
    startedAt: filledAt,
    version: 'test',
  })
  const store = openLake(lake)
  await publishTo(store, engine, { connection })
  store.close()
}
