/** How many records of a resource are stored and not deleted. */
import type { Resource } from '../../contract/fields/resource.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { liveRecords } from '../../warehouse/schema/record-rows.ts'
import { numberOf } from '../only-row.ts'

/** `condition` is SQL on the alias `t`, for some of them. */
export const countLive = (engine: Engine, resource: Resource, condition = 'true'): Promise<number> =>
  numberOf(engine, `select count(*) as n from ${liveRecords(resource)} and ${condition}`)
