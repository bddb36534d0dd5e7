/** How deep foreign JSON may be nested: what checks or writes it calls itself for each level. */

export const deepestJson = 64

/** Whether a value is nested deeper. Iterative, for the same reason. */
export function isDeep(value: unknown): boolean {
  let level = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > deepestJson) return true
    level = level.flatMap(one => (typeof one === 'object' && one !== null ? Object.values(one) : []))
  }
  return false
}
