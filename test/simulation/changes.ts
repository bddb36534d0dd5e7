/** Changes records of the service, in each way that a seed may draw. */
import type { Rng } from '../../src/lib/rng.ts'
import type { StoredRecord } from '../../src/sandbox/record.ts'
import type { CollectionName, World } from '../../src/sandbox/world.ts'

export interface ChangeContext {
  readonly world: World
  readonly collection: CollectionName
  /** Drawn from the collection. */
  readonly record: StoredRecord
  readonly rng: Rng
  readonly nowMs: number
  /** Unique within the seed. */
  readonly number: number
  /** Makes one plausible change of any record, as users would. */
  readonly work: () => void
  /** Sends an event about the change, as the service does for most changes. */
  readonly announce: (what: 'changed' | 'deleted') => void
}

/** The text field that `touch` changes, by collection. */
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
/** The number field that `spoil` breaks, by collection. */
const numbers: Partial<Record<CollectionName, string>> = { timesheets: 'netHours', expenses: 'value' }

const pick = <Item>(rng: Rng, items: readonly Item[]): Item => items[Math.floor(rng() * items.length)]!

const iso = (ms: number): string => new Date(ms).toISOString()

/** Saves the change with the current time; a record without a time of change stays without one. */
function save({ world, collection, record, nowMs }: ChangeContext, change: object): void {
  const updatedAt = record.updatedAt === undefined ? {} : { updatedAt: iso(nowMs) }
  world.upsert(collection, { ...record, ...change, ...updatedAt })
}

/** Records of a list at most: a list that grows faster than it is read would be read forever. */
const maxListLength = 400

function insert(context: ChangeContext, lagMs = 0): void {
  const { world, collection, record, nowMs, number } = context
  if (world.all(collection).length >= maxListLength) {
    changes.touch(context)
    return
  }
  const at = iso(nowMs - lagMs)
  const times = record.createdAt === undefined ? {} : { createdAt: at, updatedAt: at }
  world.upsert(collection, { ...record, id: `made${number}`, ...times })
}

/** The longest transaction of the service, which the lookback must cover. */
const maxLagMs = 10 * 60_000

export const changes = {
  work: ({ work }) => work(),
  touch: context => {
    save(context, { [texts[context.collection] ?? 'name']: `changed ${context.number}` })
    context.announce('changed')
  },
  insert: context => insert(context),
  /** Appears later than its timestamps say. */
  late: context => insert(context, context.rng() * maxLagMs),
  remove: context => {
    context.world.remove(context.collection, String(context.record.id))
    context.announce('deleted')
  },
  /** Saves many records with the same time of change. */
  bulk: context => {
    for (const record of context.world.all(context.collection))
      if (context.rng() < 0.4) save({ ...context, record }, {})
  },
  /** Makes the record impossible to load. */
  spoil: context => {
    const field = numbers[context.collection]
    if (field) save(context, { [field]: 'abc' })
  },
  /** Adds a field that the contract does not declare. */
  odd: context =>
    save(context, { [pick(context.rng, ['', 'a"b', 'x.y', 'été', '1'])]: { deep: [1, { er: null }] } }),
} as const satisfies Record<string, (context: ChangeContext) => void>

export type ChangeKind = keyof typeof changes
export const changeKinds = Object.keys(changes) as ChangeKind[]

/** Repairs the records that cannot be loaded, and gives them a new time of change. */
export function repair(world: World, nowMs: number): void {
  for (const [collection, field] of Object.entries(numbers) as [CollectionName, string][])
    for (const record of world.all(collection))
      if (typeof record[field] === 'string')
        world.upsert(collection, { ...record, [field]: 7.25, updatedAt: iso(nowMs) })
}
