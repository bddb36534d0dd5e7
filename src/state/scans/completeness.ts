/** Lists incomplete resources and why, for the check, mart.data_health, status and publish. */
import { columnsIn } from '../../warehouse/catalogue.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { withPart } from '../../warehouse/sql-files.ts'
import { existingTables } from '../existing-tables.ts'
import type { LedgerName } from '../tables.ts'

export interface IncompleteResource {
  readonly resource: string
  /** Includes the figures. */
  readonly reason: string
  /** Records; null if they were not counted. */
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
  'schema_drift',
  'accepted_drift',
]

/** In a published copy, the result as of the last build of mart.data_health; undefined without that mart. */
async function asPublished(engine: Engine): Promise<readonly IncompleteResource[] | undefined> {
  const columns = await columnsIn(engine, ['mart'])
  if (!columns.some(({ table, name }) => table === 'data_health' && name === 'incomplete_reason'))
    return undefined
  return engine.rows<IncompleteResource>(
    `select resource, incomplete_reason as reason, null as seen, null as expected from mart.data_health
     where not is_complete order by resource`,
  )
}

/** Undefined if unknown: for a warehouse of an earlier version, or a copy without mart.data_health. */
export async function incompleteResources(
  engine: Engine,
): Promise<readonly IncompleteResource[] | undefined> {
  const existing = await existingTables(engine)
  if (!read.every(name => existing.has(name))) return asPublished(engine)
  const rows = await engine.rows<IncompleteResource>(
    `${withPart('incomplete_resource')} select resource, reason, seen, expected from incomplete_resource order by resource, reason`,
  )
  const numberOf = (value: number | null): number | null => (value === null ? null : Number(value))
  return rows.map(row => ({ ...row, seen: numberOf(row.seen), expected: numberOf(row.expected) }))
}

/** How complete a resource is, in one word for every command, mart and page; sql/part/completeness.sql decides it. */
export const completenessWords = [
  'complete',
  'incomplete',
  'not read yet',
  'not for this key',
  'no total to compare with',
] as const
export type Completeness = (typeof completenessWords)[number]

/** By resource. In a published copy, as of the last build of mart.data_health; empty without that mart. */
export async function completenessOf(engine: Engine): Promise<ReadonlyMap<string, Completeness>> {
  const existing = await existingTables(engine)
  const isWhole = read.every(name => existing.has(name))
  const columns = isWhole ? [] : await columnsIn(engine, ['mart'])
  const isBuilt = columns.some(({ table, name }) => table === 'data_health' && name === 'completeness')
  if (!isWhole && !isBuilt) return new Map()
  const rows = await engine.rows<{ resource: string; word: Completeness }>(
    isWhole
      ? `${withPart('resource', 'incomplete_resource', 'completeness')} select resource, word from completeness`
      : 'select resource, completeness as word from mart.data_health',
  )
  return new Map(rows.map(({ resource, word }) => [resource, word]))
}

/** The given resources that no sync has read although the key may; no other ledger row shows that they are missing. */
export async function neverRead(engine: Engine, names: readonly string[]): Promise<readonly string[]> {
  const words = await completenessOf(engine)
  return names.filter(name => words.get(name) === 'not read yet')
}
