/** One sort order of a collection, kept up to date change by change instead of sorted again for each page. */
import { type PathReader, pathReader, type StoredRecord } from './record.ts'

export interface Entry {
  /** Position of first insertion: the tie-breaker of every order. */
  readonly sequence: number
  record: StoredRecord
  removed: boolean
}

export type SortOrder = 'asc' | 'desc'
type SortKey = string | number | boolean | undefined
interface Sorted {
  readonly key: SortKey
  readonly entry: Entry
}

/** Above this share of changed entries one sort is cheaper than the insertions. */
const rebuildShare = 0.02

export class SortedOrder {
  readonly #entries: readonly Entry[]
  readonly #read: PathReader
  readonly #direction: 1 | -1
  readonly #changed = new Set<Entry>()
  #sorted: Sorted[] | undefined
  #result: readonly StoredRecord[] = []

  constructor(entries: readonly Entry[], path: string, order: SortOrder) {
    this.#entries = entries
    this.#read = pathReader(path)
    this.#direction = order === 'asc' ? 1 : -1
  }

  note(entry: Entry): void {
    this.#changed.add(entry)
  }

  /** The same array until the collection changes, so results derived from it can be cached by identity. */
  records(): readonly StoredRecord[] {
    if (this.#sorted && this.#changed.size === 0) return this.#result
    const sorted =
      this.#sorted && this.#changed.size <= this.#sorted.length * rebuildShare
        ? this.#repaired(this.#sorted)
        : this.#rebuilt()
    this.#changed.clear()
    this.#sorted = sorted
    this.#result = sorted.map(item => item.entry.record)
    return this.#result
  }

  keyOf(record: StoredRecord): SortKey {
    const key = this.#read(record)
    return typeof key === 'string' || typeof key === 'number' || typeof key === 'boolean' ? key : undefined
  }

  #rebuilt(): Sorted[] {
    const sorted = this.#entries.map(entry => ({ key: this.keyOf(entry.record), entry }))
    return sorted.sort((left, right) => this.#compare(left, right))
  }

  #repaired(sorted: readonly Sorted[]): Sorted[] {
    const kept = sorted.filter(item => !this.#changed.has(item.entry))
    for (const entry of this.#changed) if (!entry.removed) this.#insert(kept, entry)
    return kept
  }

  #insert(sorted: Sorted[], entry: Entry): void {
    const item = { key: this.keyOf(entry.record), entry }
    let low = 0
    let high = sorted.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#compare(sorted[middle] as Sorted, item) < 0) low = middle + 1
      else high = middle
    }
    sorted.splice(low, 0, item)
  }

  #compare(left: Sorted, right: Sorted): number {
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
