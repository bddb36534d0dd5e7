/** Which of its agencies a key writes for. */
import { ApiError } from '../refusals/api-error.ts'
import type { World } from '../world.ts'
import { type ApiKey, agenciesOf } from './keys.ts'

interface Asker {
  readonly key: ApiKey
  readonly world: World
}

/**
 * The agency that the `agency` parameter names, or the key's only one. 400 when it has several and none is
 * named; `outside` (403 or 404, as the operation has it) for an agency that is not the key's.
 */
export function chosenAgency({ key, world }: Asker, named: string | undefined, outside: 403 | 404): string {
  const agencies = agenciesOf(key, world)
  if (named !== undefined) {
    if (agencies.includes(named)) return named
    throw new ApiError(outside, `agency ${named} is not available to this key`)
  }
  const [only] = agencies
  if (agencies.length !== 1 || only === undefined) {
    throw new ApiError(400, `agency: is required, because the key spans ${agencies.length} agencies`)
  }
  return only
}
