/** The short internal id (nanoid) of a record: never shown by the lists, accepted by single-record reads. */
import { createHash } from 'node:crypto'
import type { Collection, World } from '../world.ts'
import type { StoredRecord } from './record.ts'

const shortForm = /^[A-Za-z0-9_-]{10}$/

/** Derived from the id, so that it needs no storage and is the same in every run. */
export function shortId(id: string): string {
  return createHash('sha256').update(id).digest('base64url').slice(0, 10)
}

export function findByAnyId(world: World, collection: Collection, id: string): StoredRecord | undefined {
  const found = world.get(collection, id)
  if (found || !shortForm.test(id)) return found
  return world.all(collection).find(record => shortId(String(record.id)) === id)
}
