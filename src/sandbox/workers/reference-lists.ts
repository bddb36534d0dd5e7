/**
 * The lists that a worker's fields are chosen from. The contract names them and shows no path to read them
 * from, so they are data of the sandbox, and a refusal names a few values of the list it asks for.
 */
import { createHash } from 'node:crypto'
import { trades } from '../data/names.ts'

export { countries, telephoneCodes } from './countries.ts'

export const genders: readonly string[] = ['Male', 'Female', 'Non-binary', 'Prefer not to say']

export interface MasterTrade {
  readonly id: string
  readonly name: string
}

export const masterTrades: readonly MasterTrade[] = trades.map(({ name }) => ({
  id: listId('master trade', name),
  name,
}))

/** An id of the service's form (24 hex digits) that is the same in every sandbox. */
export function listId(list: string, name: string): string {
  return createHash('sha256').update(`${list} ${name}`).digest('hex').slice(0, 24)
}

const SHOWN = 3

/** `valid are A, B, C and 12 more` */
export function fewOf(values: readonly string[]): string {
  const rest = values.length - SHOWN
  return `valid are ${values.slice(0, SHOWN).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}
