/** The ways in which records of the service change. */
import type { Rng } from '../../src/lib/rng.ts'
import type { StoredRecord } from '../../src/sandbox/record.ts'
import type { CollectionName, World } from '../../src/sandbox/world.ts'

export interface Occasion {
  readonly world: World
  readonly collection: CollectionName
  /** One of the collection, drawn. */
  readonly record: StoredRecord
  readonly rng: Rng
  readonly nowMs: number
  /** A number that was not given before in this seed. */
  readonly number: number
  /** One believable change of any record, as people work. */
  readonly work: () => void
  /** Tells of the change, as the service does of most. */
  readonly announce: (what: 'changed' | 'deleted') => void
}

/** A text of each list that may change, and a field that must be a number. */
const texts: Partial<Record<CollectionName, string>> = {
  timesheets: 'reference',
  invoices: 'reference',
  expenses: 'category',
  accessRuleMappings: 'configKey',
  assignments: 'reference',
  requisitions: 'reference',
  creditNotes: 'reference',
  purchaseOrders: 'reference',
}
const numbers: Partial<Record<CollectionName, string>> = { timesheets: 'netHours', expenses: 'value' }

const pick = <Item>(rng: Rng, items: readonly Item[]): Item => items[Math.floor(rng() * items.length)]!

const iso = (ms: number): string => new Date(ms).toISOString()

/** Saved now; a record without a time of change gets none. */
function save({ world, collection, record, nowMs }: Occasion, change: object): void {
  const updatedAt = record.updatedAt === undefined ? {} : { updatedAt: iso(nowMs) }
  world.upsert(collection, { ...record, ...change, ...updatedAt })
}

/** Records of a list; one that grows faster than its pages show it is read for as long as it grows. */
const longestList = 400

function insert(on: Occasion, lagMs = 0): void {
  const { world, collection, record, nowMs, number } = on
  if (world.all(collection).length >= longestList) {
    changes.touch(on)
    return
  }
  const at = iso(nowMs - lagMs)
  const times = record.createdAt === undefined ? {} : { createdAt: at, updatedAt: at }
  world.upsert(collection, { ...record, id: `made${number}`, ...times })
}

/** The longest that a transaction of the service takes, within what the lookback covers. */
const longestLagMs = 10 * 60_000

export const changes = {
  work: ({ work }) => work(),
  touch: on => {
    save(on, { [texts[on.collection] ?? 'name']: `changed ${on.number}` })
    on.announce('changed')
  },
  insert: on => insert(on),
  /** It shows up later than its times say. */
  late: on => insert(on, on.rng() * longestLagMs),
  remove: on => {
    on.world.remove(on.collection, String(on.record.id))
    on.announce('deleted')
  },
  /** Many with one time of change. */
  bulk: on => {
    for (const record of on.world.all(on.collection)) if (on.rng() < 0.4) save({ ...on, record }, {})
  },
  /** It cannot be loaded. */
  spoil: on => {
    const field = numbers[on.collection]
    if (field) save(on, { [field]: 'abc' })
  },
  /** A field that the contract does not have. */
  odd: on => save(on, { [pick(on.rng, ['', 'a"b', 'x.y', 'été', '1'])]: { deep: [1, { er: null }] } }),
} as const satisfies Record<string, (on: Occasion) => void>

export type ChangeKind = keyof typeof changes
export const changeKinds = Object.keys(changes) as ChangeKind[]

/** What cannot be loaded can be from now on, with a later time of change. */
export function mend(world: World, nowMs: number): void {
  for (const [collection, field] of Object.entries(numbers) as [CollectionName, string][])
    for (const record of world.all(collection))
      if (typeof record[field] === 'string')
        world.upsert(collection, { ...record, [field]: 7.25, updatedAt: iso(nowMs) })
}
