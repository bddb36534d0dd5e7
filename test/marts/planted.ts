/** One error for each check: statements that plant it in a filled warehouse with marts, and what the check must say. */
import type { Engine } from '../../src/warehouse/engine.ts'
import { plantedInMarts } from './planted-in-marts.ts'
import { plantedInMeasures } from './planted-in-measures.ts'
import { plantedInStar } from './planted-in-star.ts'
import type { Planted } from './planting.ts'

/** In order of the checks' names. */
export const planted = (engine: Engine['kind']): readonly Planted[] =>
  [...plantedInStar(engine), ...plantedInMarts, ...plantedInMeasures].sort((one, other) =>
    one.check < other.check ? -1 : 1,
  )
