/** Every check there is. */
import type { Mart } from '../mart.ts'
import { canaryChecks } from './canaries.ts'
import { type Check, writtenChecks } from './check.ts'
import { derivedChecks } from './derived.ts'

/** In order of name; `marts` are those whose texts are looked at. */
export function everyCheck(marts: readonly Mart[]): Check[] {
  const checks = [...derivedChecks, ...canaryChecks(marts), ...writtenChecks()]
  return checks.sort((one, other) => (one.name < other.name ? -1 : 1))
}
