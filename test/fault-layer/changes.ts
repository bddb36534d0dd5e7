/** The quirks of changes: what happens to a list between two of its requests. */
import type { Rng } from '../../src/lib/rng.ts'
import type { StoredRecord } from '../../src/sandbox/record.ts'
import { type CollectionName, keyOf, type World } from '../../src/sandbox/world.ts'
import type { ChangeQuirks } from './quirk-settings.ts'

export interface ChangingList {
  readonly world: World
  readonly collection: CollectionName
  readonly rng: Rng
  readonly nowMs: number
}

const defaultLateness = 600

export function changeList(list: ChangingList, quirks: ChangeQuirks): void {
  const now = Math.max(list.nowMs, Date.parse(list.world.latestUpdate()) || 0)
  const late = now - (quirks.lateness ?? defaultLateness) * 1000
  times(quirks.churn, () => {
    remove(list)
    insert(list, now)
  })
  times(quirks.updates, () => update(list, now))
  times(quirks.late, () => update(list, late))
  times(quirks.backdated, () => insert(list, late))
}

/** Many records, or all, get the same updatedAt. */
export function updateMany({ world, collection, nowMs }: ChangingList, count: number): void {
  const at = iso(Math.max(nowMs, Date.parse(world.latestUpdate()) + 1 || 0))
  for (const record of world.all(collection).slice(0, count))
    world.upsert(collection, { ...record, updatedAt: at })
}

function times(count = 0, change: () => void): void {
  for (let done = 0; done < count; done += 1) change()
}

const anyOf = ({ world, collection, rng }: ChangingList) => world.at(collection, rng())

function remove(list: ChangingList): void {
  const record = anyOf(list)
  const key = record && keyOf(list.collection, record)
  if (key !== undefined) list.world.remove(list.collection, key)
}

/** A record like another one of the list. */
function insert(list: ChangingList, at: number): void {
  const { world, collection, rng } = list
  const model = anyOf(list)
  if (!model) return
  const id = Array.from({ length: 24 }, () => Math.floor(rng() * 16).toString(16)).join('')
  const times = { ...(model.createdAt !== undefined && { createdAt: iso(at) }), ...updated(model, at) }
  const reference = model.reference !== undefined && { reference: `${model.reference}-${id.slice(0, 6)}` }
  world.upsert(collection, { ...model, ...reference, ...times, id })
}

/** A change never takes a record back in time. */
function update(list: ChangingList, at: number): void {
  const record = anyOf(list)
  if (!record) return
  const before = Date.parse(String(record.updatedAt)) || 0
  list.world.upsert(list.collection, { ...record, ...updated(record, Math.max(at, before + 1)) })
}

const updated = (record: StoredRecord, at: number) => record.updatedAt !== undefined && { updatedAt: iso(at) }

const iso = (at: number): string => new Date(at).toISOString()
