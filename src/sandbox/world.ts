/** The records the sandbox serves, by collection, with every sort order kept ready. */
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

interface Shelf {
  readonly entries: Map<string, Entry>
  /** The same entries in order of insertion. */
  readonly line: Entry[]
  readonly orders: Map<string, SortedOrder>
  inserted: number
}

export class World {
  private readonly shelves: Record<Collection, Shelf>
  private latest = ''

  constructor(records: Records) {
    this.shelves = Object.fromEntries(
      collections.map(name => [name, { entries: new Map(), line: [], orders: new Map(), inserted: 0 }]),
    ) as unknown as Record<Collection, Shelf>
    for (const name of collections) {
      for (const record of records[name] ?? []) this.upsert(name, record as StoredRecord)
    }
  }

  /** In order of insertion; a changed record keeps its place. */
  all(collection: Collection): StoredRecord[] {
    return this.shelves[collection].line.map(entry => entry.record)
  }

  /** Any record: `share` in [0, 1) is its place in the order of insertion. */
  at(collection: Collection, share: number): StoredRecord | undefined {
    const { line } = this.shelves[collection]
    return line[Math.floor(share * line.length)]?.record
  }

  /** Counts insertions, not records: good for references that are never given twice. */
  nextNumber(collection: Collection): number {
    return this.shelves[collection].inserted + 1
  }

  /** Company users are kept under `companyId/id`, everything else under its id. */
  get(collection: Collection, id: string): StoredRecord | undefined {
    return this.shelves[collection].entries.get(id)?.record
  }

  upsert(collection: Collection, record: StoredRecord): void {
    const shelf = this.shelves[collection]
    const key = keyOf(collection, record) ?? `#${shelf.inserted}`
    const known = shelf.entries.get(key)
    const entry = known ?? { sequence: shelf.inserted++, record, removed: false }
    entry.record = record
    if (!known) {
      shelf.entries.set(key, entry)
      shelf.line.push(entry)
    }
    for (const order of shelf.orders.values()) order.note(entry)
    if (typeof record.updatedAt === 'string' && record.updatedAt > this.latest) this.latest = record.updatedAt
  }

  remove(collection: Collection, id: string): boolean {
    const shelf = this.shelves[collection]
    const entry = shelf.entries.get(id)
    if (!entry) return false
    entry.removed = true
    shelf.entries.delete(id)
    shelf.line.splice(shelf.line.indexOf(entry), 1)
    for (const order of shelf.orders.values()) order.note(entry)
    return true
  }

  ordered(collection: Collection, path: string, order: SortOrder): SortedOrder {
    const shelf = this.shelves[collection]
    const name = `${path} ${order}`
    const sorted = shelf.orders.get(name) ?? new SortedOrder(shelf.line, path, order)
    shelf.orders.set(name, sorted)
    return sorted
  }

  /** The greatest `updatedAt` ever held: changes made later never carry a smaller one. */
  latestUpdate(): string {
    return this.latest
  }
}

function keyOf(collection: Collection, record: StoredRecord): string | undefined {
  if (record.id === undefined) return undefined
  return collection === 'companyUsers' ? `${record.companyId}/${record.id}` : String(record.id)
}
