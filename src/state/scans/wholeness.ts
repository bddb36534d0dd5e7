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
  'key_access',
  'quarantine',
  'run',
]

/** A published copy has the answer of the time when its mart was built; undefined without the mart. */
async function asPublished(engine: Engine): Promise<readonly NotWhole[] | undefined> {
  const [column] = await engine.rows(
    `select column_name from information_schema.columns where table_catalog = current_database()
     and table_schema = $1 and table_name = 'data_health' and column_name = 'not_whole_reason'`,
    [engine.schema('mart')],
  )
  if (!column) return undefined
  return engine.rows<NotWhole>(
    `select resource, not_whole_reason as reason, null as seen, null as expected from mart.data_health
     where not is_whole order by resource`,
  )
}

/** Undefined where nothing tells: for a warehouse of an earlier version, or a copy without mart.data_health. */
export async function notWhole(engine: Engine): Promise<readonly NotWhole[] | undefined> {
  const existing = await existingTables(engine)
  if (!read.every(name => existing.has(name))) return asPublished(engine)
  const rows = await engine.rows<NotWhole>(
    `${withPart('not_whole')} select resource, reason, seen, expected from not_whole order by resource, reason`,
  )
  const numberOf = (value: number | null): number | null => (value === null ? null : Number(value))
  return rows.map(row => ({ ...row, seen: numberOf(row.seen), expected: numberOf(row.expected) }))
}

/** Those of the resources that no sync has ever read although the key may: no other ledger row says that they are missing. */
export async function neverRead(engine: Engine, names: readonly string[]): Promise<readonly string[]> {
  const read = await engine.rows<{ resource: string }>(
    `select rr.resource from ops.run_resource as rr inner join ops.run as r on r.run_id = rr.run_id
     where r.command = 'sync' and rr.state <> 'skipped'
     union
     select a.resource from ops.key_access as a where a.state in ('refused', 'not for this kind of key')`,
  )
  return names.filter(name => !read.some(({ resource }) => resource === name))
}
