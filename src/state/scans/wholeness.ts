/** Which resources are not whole, and why: what the check, mart.data_health, status and publish say. */
import type { Engine } from '../../warehouse/engine.ts'
import { withPart } from '../../warehouse/sql-files.ts'
import { existingTables } from '../existing-tables.ts'
import type { LedgerName } from '../tables.ts'

export interface NotWhole {
  readonly resource: string
  /** With the figures. */
  readonly reason: string
  /** Records; null where they were not counted. */
  readonly seen: number | null
  readonly expected: number | null
}

const read: readonly LedgerName[] = [
  'run_resource',
  'scan',
  'watermark',
  'sweep',
  'unread',
  'discovered',
  'access',
  'quarantine',
  'run',
]

/** Undefined for a warehouse without these tables, such as a published copy. */
export async function notWhole(engine: Engine): Promise<readonly NotWhole[] | undefined> {
  const existing = await existingTables(engine)
  if (!read.every(name => existing.has(name))) return undefined
  const rows = await engine.rows<NotWhole>(
    `${withPart('not_whole')} select resource, reason, seen, expected from not_whole order by resource, reason`,
  )
  const numberOf = (value: number | null): number | null => (value === null ? null : Number(value))
  return rows.map(row => ({ ...row, seen: numberOf(row.seen), expected: numberOf(row.expected) }))
}
