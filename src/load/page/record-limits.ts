/** How large, deep and manifold a record may be. What is beyond goes to quarantine, so that no record exhausts the machine. */

export interface RecordLimits {
  /** Bytes of its JSON. */
  readonly bytes: number
  /** Levels of objects and lists: json_tree writes the path of every value, and 100,000 levels would take 10 GB. */
  readonly depth: number
  /** Leaves of undeclared fields in one record. */
  readonly fields: number
  /** Paths of undeclared fields of one resource, which its report of schema drift holds. */
  readonly paths: number
}

export const usualLimits: RecordLimits = { bytes: 16_777_216, depth: 2000, fields: 20_000, paths: 20_000 }

/** Of a record beyond the limit of bytes only so many characters go to quarantine; the landed page has the rest. */
export const longestPayload = 65_536

/** The paths of undeclared fields that a resource has shown so far. */
export class SeenPaths {
  readonly #most: number
  readonly #seen: Set<string>

  constructor(most: number, seen: Iterable<string> = []) {
    this.#most = most
    this.#seen = new Set(seen)
  }

  /** Whether there is room for all of them; they are remembered then. */
  admit(paths: Iterable<string>): boolean {
    const added = [...new Set(paths)].filter(path => !this.#seen.has(path))
    if (this.#seen.size + added.length > this.#most) return added.length === 0
    for (const path of added) this.#seen.add(path)
    return true
  }
}
