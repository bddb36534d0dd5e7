/** Stores the records that the sandbox serves, by collection, with every sort order up to date. */
import type { generateRecords } from './data/generate.ts'
import { type StoredRecord, shortId, shortIdForm } from './record.ts'
import { SortedOrder, type SortOrder, type WorldEntry } from './sorted-order.ts'

/** `agencies` has no endpoint: it names the agencies of keys. The other collections are listed or read by id. */
export type CollectionName = keyof ReturnType<typeof generateRecords>
export type WorldRecords = Partial<Record<CollectionName, readonly object[]>>

interface StoredCollection {
  readonly entries: Map<string, WorldEntry>
  /** The same entries in order of insertion. */
  readonly inOrder: WorldEntry[]
  readonly sorted: Map<string, SortedOrder>
  inserted: number
}

export class World {
  readonly #collections = new Map<CollectionName, StoredCollection>()
  #latest = ''

  constructor(records: WorldRecords) {
    for (const [name, rows] of Object.entries(records)) {
      for (const record of rows) this.upsert(name as CollectionName, record as StoredRecord)
    }
  }

  #stored(collection: CollectionName): StoredCollection {
    const fresh = { entries: new Map(), inOrder: [], sorted: new Map(), inserted: 0 }
    const stored = this.#collections.get(collection) ?? fresh
    this.#collections.set(collection, stored)
    return stored
  }

  /** All records in order of insertion; a changed record keeps its place. */
  all(collection: CollectionName): StoredRecord[] {
    return this.#stored(collection).inOrder.map(entry => entry.record)
  }

  /** Any record: `share` in [0, 1) is its place in the order of insertion. */
  at(collection: CollectionName, share: number): StoredRecord | undefined {
    const { inOrder } = this.#stored(collection)
    return inOrder[Math.floor(share * inOrder.length)]?.record
  }

  /** Counts insertions, not records, so that no reference is given twice. */
  nextNumber(collection: CollectionName): number {
    return this.#stored(collection).inserted + 1
  }

  /** Company users are stored under `companyId/id`, all other records under their ids. */
  get(collection: CollectionName, id: string): StoredRecord | undefined {
    return this.#stored(collection).entries.get(id)?.record
  }

  /** Finds a record by id or short id. */
  find(collection: CollectionName, id: string): StoredRecord | undefined {
    const found = this.get(collection, id)
    if (found || !shortIdForm.test(id)) return found
    return this.all(collection).find(record => shortId(String(record.id)) === id)
  }

  upsert(collection: CollectionName, record: StoredRecord): void {
    const stored = this.#stored(collection)
    const key = keyOf(collection, record) ?? `#${stored.inserted}`
    const known = stored.entries.get(key)
    const entry = known ?? { sequence: stored.inserted++, record, removed: false }
    entry.record = record
    if (!known) {
      stored.entries.set(key, entry)
      stored.inOrder.push(entry)
    }
    for (const order of stored.sorted.values()) order.note(entry)
    if (typeof record.updatedAt === 'string' && record.updatedAt > this.#latest)
      this.#latest = record.updatedAt
  }

  remove(collection: CollectionName, id: string): boolean {
    const stored = this.#stored(collection)
    const entry = stored.entries.get(id)
    if (!entry) return false
    entry.removed = true
    stored.entries.delete(id)
    stored.inOrder.splice(stored.inOrder.indexOf(entry), 1)
    for (const order of stored.sorted.values()) order.note(entry)
    return true
  }

  ordered(collection: CollectionName, path: string, order: SortOrder): SortedOrder {
    const stored = this.#stored(collection)
    const name = `${path} ${order}`
    const sorted = stored.sorted.get(name) ?? new SortedOrder(stored.inOrder, path, order)
    stored.sorted.set(name, sorted)
    return sorted
  }

  /** The greatest `updatedAt` ever stored: later changes never carry a smaller one. */
  latestUpdate(): string {
    return this.#latest
  }
}

export function keyOf(collection: CollectionName, record: StoredRecord): string | undefined {
  if (record.id === undefined) return undefined
  return collection === 'companyUsers' ? `${record.companyId}/${record.id}` : String(record.id)
}
