/** One batch of a test's own pages, loaded. */

import type { Resource } from '../../src/contract/fields/resource.ts'
import type { LoadCounts, PageBatch } from '../../src/load/load-batch.ts'
import { Pipeline } from '../../src/load/pipeline.ts'
import { stagePlan } from '../../src/load/read/plan.ts'
import type { Engine } from '../../src/warehouse/engine.ts'

export async function loadOnce(engine: Engine, resource: Resource, batch: PageBatch): Promise<LoadCounts> {
  let loaded: LoadCounts | undefined
  const pipeline = new Pipeline({ engine, plan: stagePlan(resource) })
  await pipeline.load(batch, async (engine, { merge }) => {
    loaded = await engine.merge(merge)
  })
  await pipeline.drained()
  return loaded as unknown as LoadCounts
}
