/** One batch of a test's own pages, loaded. */

import type { Resource } from '../../src/contract/fields/resource.ts'
import type { Loaded, PageBatch } from '../../src/load/load-batch.ts'
import { Pipeline } from '../../src/load/pipeline.ts'
import { stagePlan } from '../../src/load/read/plan.ts'
import type { Engine } from '../../src/warehouse/engine.ts'

export async function loadOnce(engine: Engine, resource: Resource, batch: PageBatch): Promise<Loaded> {
  const found: Loaded[] = []
  const pipeline = new Pipeline({
    engine,
    plan: stagePlan(resource),
    committed: loaded => found.push(loaded),
  })
  await pipeline.load(batch)
  await pipeline.drained()
  return found[0] as Loaded
}
