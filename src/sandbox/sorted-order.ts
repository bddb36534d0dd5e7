/** Maintains one sort order of a collection as its records change, instead of sorting for each page. */
import { namedRng } from '../lib/rng.ts'
import { type PathReader, pathReader, type StoredRecord } from './record.ts'

export interface WorldEntry {
  /** Position of first insertion: the tie-breaker of every order. */
  readonly sequence: number
  record: StoredRecord
  removed: boolean
}

export type SortOrder = 'asc' | 'desc'
type SortKey = string | number | boolean | undefined
interface SortedEntry {
  readonly key: SortKey
  readonly entry: WorldEntry
}

export class SortedOrder {
  readonly #read: PathReader
  readonly #direction: 1 | -1
  readonly #changed: Set<WorldEntry>
  #sorted: readonly SortedEntry[] = []
  #result: readonly StoredRecord[] = []

  constructor(entries: readonly WorldEntry[], path: string, order: SortOrder) {
    this.#read = pathReader(path)
    this.#direction = order === 'asc' ? 1 : -1
    this.#changed = new Set(entries)
  }

  note(entry: WorldEntry): void {
    this.#changed.add(entry)
  }

  /**
   * The same array until the collection changes, so results derived from it can be cached by identity. A few changes cost
   * one pass, because sorting a nearly sorted array is fast.
   */
  records(): readonly StoredRecord[] {
    if (this.#changed.size === 0) return this.#result
    const unchanged = this.#sorted.filter(item => !this.#changed.has(item.entry))
    const changed = [...this.#changed].filter(entry => !entry.removed)
    const items = [...unchanged, ...changed.map(entry => ({ key: this.keyOf(entry.record), entry }))]
    this.#sorted = items.sort((left, right) => this.#compare(left, right))
    this.#result = this.#sorted.map(item => item.entry.record)
    this.#changed.clear()
    return this.#result
  }

  keyOf(record: StoredRecord): SortKey {
    const key = this.#read(record)
    return typeof key === 'string' || typeof key === 'number' || typeof key === 'boolean' ? key : undefined
  }

  #compare(left: SortedEntry, right: SortedEntry): number {
    return this.#direction * compareKeys(left.key, right.key) || left.entry.sequence - right.entry.sequence
  }
}

/** Code-unit order for texts; a missing value is smaller than any other. */
function compareKeys(left: SortKey, right: SortKey): number {
  if (left === right) return 0
  if (left === undefined) return -1
  if (right === undefined) return 1
  return left < right ? -1 : 1
}

/** Records with equal sort keys in another order at each request, for clients that must not rely on one. */
export type Shuffle = <T>(group: T[]) => T[]

export function shuffler(seed: number): Shuffle {
  const rng = namedRng(seed, 'ties')
  return <T>(group: T[]): T[] => {
    for (let last = group.length - 1; last > 0; last -= 1) {
      const other = Math.floor(rng() * (last + 1))
      const moved = group[last] as T
      group[last] = group[other] as T
      group[other] = moved
    }
    return group
  }
}

/** Expects equal keys side by side. Without a shuffle the order stays the same. */
export function shuffledTies<T>(
  rows: readonly T[],
  keyOf: (row: T) => unknown,
  shuffle: Shuffle | undefined,
): readonly T[] {
  if (!shuffle) return rows
  const result: T[] = []
  let start = 0
  while (start < rows.length) {
    const key = keyOf(rows[start] as T)
    let end = start + 1
    while (end < rows.length && keyOf(rows[end] as T) === key) end += 1
    const group = rows.slice(start, end)
    result.push(...(group.length > 1 ? shuffle(group) : group))
    start = end
  }
  return result
}
