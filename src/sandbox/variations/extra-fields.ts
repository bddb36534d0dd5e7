/** The option `extra`: objects have fields that the contract does not name, as a growing service would send. */
import type { Rng } from '../../lib/rng.ts'
import type { StoredRecord } from '../records/record.ts'

const extras: readonly (readonly [string, unknown])[] = [
  ['extNote', 'Not in the contract.'],
  ['extScore', 12.5],
  ['extChecked', true],
  ['extLabels', ['first', 'second']],
  ['extOrigin', { system: 'import', batch: 7 }],
  ['extEmpty', null],
]

export interface Extra {
  readonly share: number
  /** Whether the record itself may have one, and whether objects inside it may. */
  readonly outside: boolean
  readonly inside: boolean
}

/** A copy with extra fields; `draw` decides for each object in turn, so a record always has the same ones. */
export function withExtras(record: StoredRecord, extra: Extra, draw: Rng): StoredRecord {
  const copy: StoredRecord = extra.inside ? (below(record, extra.share, draw) as StoredRecord) : { ...record }
  return extra.outside ? grown(copy, extra.share, draw) : copy
}

function below(value: unknown, share: number, draw: Rng): unknown {
  if (Array.isArray(value)) return value.map(item => inner(item, share, draw))
  const entries = Object.entries(value as StoredRecord).map(([name, item]) => [
    name,
    inner(item, share, draw),
  ])
  return Object.fromEntries(entries)
}

function inner(value: unknown, share: number, draw: Rng): unknown {
  if (typeof value !== 'object' || value === null) return value
  const copy = below(value, share, draw)
  return Array.isArray(copy) ? copy : grown(copy as StoredRecord, share, draw)
}

export function grown(record: StoredRecord, share: number, draw: Rng): StoredRecord {
  if (draw() >= share) return record
  const [name, value] = extras[Math.floor(draw() * extras.length)] as (typeof extras)[number]
  return { ...record, [name]: value }
}
