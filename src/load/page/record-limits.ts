/**
 * Limits the size, depth and number of fields of a record. Larger ones go to quarantine, so that no record exhausts the
 * machine.
 */

export interface RecordLimits {
  /** Bytes of its JSON. */
  readonly bytes: number
  /** Levels of objects and lists: json_tree writes the path of every value, and 100,000 levels would take 10 GB. */
  readonly depth: number
  /** Leaves of undeclared fields in one record. */
  readonly fields: number
  /** Paths of a resource's undeclared fields, which its report of schema drift holds. */
  readonly paths: number
}

export const defaultLimits: RecordLimits = { bytes: 16_777_216, depth: 2000, fields: 20_000, paths: 20_000 }

/**
 * At most this many characters of a record that exceeds the byte limit go to quarantine; the landed page has the rest.
 */
export const longestPayload = 65_536

/** The paths of undeclared fields seen so far in a resource. */
export class SeenPaths {
  readonly #max: number
  readonly #seen: Set<string>

  constructor(max: number, seen: Iterable<string> = []) {
    this.#max = max
    this.#seen = new Set(seen)
  }

  /** Adds the paths if there is room for all of them; returns whether there is. */
  admit(paths: Iterable<string>): boolean {
    const added = [...new Set(paths)].filter(path => !this.#seen.has(path))
    if (this.#seen.size + added.length > this.#max) return added.length === 0
    for (const path of added) this.#seen.add(path)
    return true
  }
}
