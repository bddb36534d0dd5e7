/** How many records of a resource are stored and not deleted. */
import type { Resource } from '../../contract/fields/resource.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { liveRecords } from '../../warehouse/schema/record-rows.ts'

/** `condition` is SQL on the alias `t`, for some of them. */
export async function countLive(engine: Engine, resource: Resource, condition = 'true'): Promise<number> {
  const [row] = await engine.rows<{ n: number }>(
    `select count(*) as n from ${liveRecords(resource)} and ${condition}`,
  )
  return Number(row?.n ?? 0)
}
