/** Limits how deep foreign JSON may be nested, as checking and writing it are recursive. */

export const deepestJson = 64

/** Whether a value is nested deeper. Iterative, so that it cannot overflow the stack. */
export function isDeep(value: unknown): boolean {
  let level = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > deepestJson) return true
    level = level.flatMap(one => (typeof one === 'object' && one !== null ? Object.values(one) : []))
  }
  return false
}
