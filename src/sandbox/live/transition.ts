/** A transition declares the records it starts from, the new status, the change, and the events it sends. */
import type { EventType } from '../../contract/events.ts'
import type { StoredRecord } from '../records/record.ts'
import type { Collection } from '../world.ts'
import type { ChangeContext, Condition } from './change-context.ts'

/** Finds the record to change, or the several records of one change. Writes nothing. */
export type Finder<Found> = (context: ChangeContext) => Found | undefined

/** Finds a record that meets a condition. `Row` is the type that the condition proves. */
export function where<Row extends object = StoredRecord>(
  collection: Collection,
  state: string,
  test: Condition['test'],
): Finder<Row & StoredRecord> & Condition {
  const condition = { collection, state, test }
  const find: Finder<Row & StoredRecord> = context => context.find(condition) as Row & StoredRecord
  return Object.assign(find, condition)
}

export const inStatus = (collection: Collection, status: string) =>
  where(collection, status, record => record.status === status)

/** One event, several, or a map from the record's new status to its events. */
type Events = EventType | readonly EventType[]
type Sends = Events | Readonly<Record<string, Events>>

interface Declared<Found> {
  readonly from: Finder<Found>
  /** Changes to other records: runs after the record is written and before events are sent. */
  readonly also?: (context: ChangeContext, found: Found, after: StoredRecord) => void
  readonly sends?: Sends
}

interface Update<Found> extends Declared<Found> {
  /** The new status, if the transition always leads to the same one. */
  readonly to?: string
  /** Returns the changed record, or undefined if it cannot change. By default only the status changes. */
  readonly make?: (found: Found, context: ChangeContext, to: string) => object | undefined
}

interface Creation<Found> extends Declared<Found> {
  /** Returns one new record or several. */
  readonly make: (found: Found, context: ChangeContext, to: string) => object | readonly object[] | undefined
}

/** Makes one change, or returns false if no record allows it. */
export type Transition = (context: ChangeContext) => boolean

export function update<Found>(collection: Collection, declared: Update<Found>): Transition {
  return transition('update', collection, { make: record => record as object, ...declared })
}

export function create<Found>(collection: Collection, declared: Creation<Found>): Transition {
  return transition('create', collection, declared)
}

export function remove<Found>(collection: Collection, declared: Declared<Found>): Transition {
  return transition('remove', collection, { make: record => record as object, ...declared })
}

function transition<Found>(
  write: 'update' | 'create' | 'remove',
  collection: Collection,
  { from, make, to, also, sends = [] }: Creation<Found> & Update<Found>,
): Transition {
  return context => {
    const found = from(context)
    const made = found && make(found, context, String(to))
    if (!made) return false
    for (const record of [made].flat() as StoredRecord[]) {
      const after = to === undefined ? record : { ...record, status: to }
      context[write](collection, after)
      also?.(context, found, after)
      for (const type of eventsOf(sends, String(after.status))) context.send(type, after)
    }
    return true
  }
}

function eventsOf(sends: Sends, status: string): readonly EventType[] {
  if (typeof sends === 'string') return [sends]
  if (Array.isArray(sends)) return sends
  return eventsOf((sends as Readonly<Record<string, Events>>)[status] ?? [], status)
}
