/** Whether a company tracks the recruitment stages of the workers put forward to it. */
import type { World } from '../world.ts'

/** The contract's config object has no key for it: the sandbox keeps it beside, and takes it as on unless off. */
export function tracksStages(world: World, companyId: unknown): boolean {
  return world.get('companies', String(companyId))?.stageTracking !== false
}
