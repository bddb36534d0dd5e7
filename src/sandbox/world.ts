/** The records the sandbox serves, by collection, with every sort order kept ready. */

import type { Ref } from './data/identity.ts'
import type { StoredRecord } from './records/record.ts'
import { type Entry, SortedOrder, type SortOrder } from './records/sorted-order.ts'

/** `agencies` has no endpoint: it names the agencies of keys. The others are what is listed or read by id. */
const collections = [
  'agencies',
  'companies',
  'projects',
  'sites',
  'users',
  'companyUsers',
  'accessRuleMappings',
  'competencyMatrix',
  'timesheets',
  'expenses',
  'invoices',
  'trades',
  'rates',
  'requisitions',
  'assignments',
  'creditNotes',
  'purchaseOrders',
] as const

export type Collection = (typeof collections)[number]
export type Records = Partial<Record<Collection, readonly object[]>>

interface Stored {
  readonly entries: Map<string, Entry>
  /** The same entries in order of insertion. */
  readonly inOrder: Entry[]
  readonly sorted: Map<string, SortedOrder>
  inserted: number
}

export class World {
  readonly #collections: Readonly<Record<Collection, Stored>>
  #latest = ''

  constructor(records: Records) {
    this.#collections = Object.fromEntries(
      collections.map(name => [name, { entries: new Map(), inOrder: [], sorted: new Map(), inserted: 0 }]),
    ) as unknown as Record<Collection, Stored>
    for (const name of collections) {
      for (const record of records[name] ?? []) this.upsert(name, record as StoredRecord)
    }
  }

  /** In order of insertion; a changed record keeps its place. */
  all(collection: Collection): StoredRecord[] {
    return this.#collections[collection].inOrder.map(entry => entry.record)
  }

  /** Any record: `share` in [0, 1) is its place in the order of insertion. */
  at(collection: Collection, share: number): StoredRecord | undefined {
    const { inOrder } = this.#collections[collection]
    return inOrder[Math.floor(share * inOrder.length)]?.record
  }

  /** Counts insertions, not records, so that no reference is given twice. */
  nextNumber(collection: Collection): number {
    return this.#collections[collection].inserted + 1
  }

  /** Company users are kept under `companyId/id`, everything else under its id. */
  get(collection: Collection, id: string): StoredRecord | undefined {
    return this.#collections[collection].entries.get(id)?.record
  }

  upsert(collection: Collection, record: StoredRecord): void {
    const stored = this.#collections[collection]
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

  remove(collection: Collection, id: string): boolean {
    const stored = this.#collections[collection]
    const entry = stored.entries.get(id)
    if (!entry) return false
    entry.removed = true
    stored.entries.delete(id)
    stored.inOrder.splice(stored.inOrder.indexOf(entry), 1)
    for (const order of stored.sorted.values()) order.note(entry)
    return true
  }

  ordered(collection: Collection, path: string, order: SortOrder): SortedOrder {
    const stored = this.#collections[collection]
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

export function keyOf(collection: Collection, record: StoredRecord): string | undefined {
  if (record.id === undefined) return undefined
  return collection === 'companyUsers' ? `${record.companyId}/${record.id}` : String(record.id)
}

/** Records passed in whole name their agencies only by reference: without a list of them, the references make one. */
export function withAgencies(records: Records | undefined): Records | undefined {
  if (!records || records.agencies) return records
  const agencies = new Map<string, Ref>()
  for (const { agency } of Object.values(records).flat() as { agency?: Partial<Ref> | null }[]) {
    const { id, name } = agency ?? {}
    if (id !== undefined && name !== undefined && !agencies.has(id)) agencies.set(id, { id, name })
  }
  return { ...records, agencies: [...agencies.values()] }
}
