/** Reads the state of one resource: its last run, watermark, rows, proof, and what needs attention. */

import { isInferred } from '../../contract/derived/sql-rows.ts'
import type { Resource } from '../../contract/fields/resource.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { countLive } from '../evidence/absence.ts'
import { existingTables } from '../existing-tables.ts'
import { ledger } from '../ledger.ts'
import type { AccessRow } from '../requests/tables.ts'
import type { Completeness } from '../scans/completeness.ts'
import { currentScans, type ProofRow, proofOf, scansOf } from '../scans/proof.ts'
import { hiddenInScopes } from '../scans/scopes.ts'
import type { ScanRow } from '../scans/tables.ts'
import { readWatermark } from '../scans/watermarks.ts'
import type { RunResourceRow } from './tables.ts'

export interface ResourceState {
  readonly resource: string
  /** State in the last run that worked on it; null without one and in a published copy. */
  readonly state: RunResourceRow['state'] | null
  readonly note: string | null
  /** ISO 8601: start of that run, or of the run that opened the last scan. */
  readonly lastRunAt: string | null
  /** As the service wrote it. */
  readonly watermark: string | null
  readonly backfilledAt: string | null
  /** ISO 8601: when the service began to show an empty list although rows are stored; null otherwise. */
  readonly emptySince: string | null
  /** Rows of a full page if the service returns fewer than requested; null otherwise. */
  readonly pageSize: number | null
  /** Rows that the total counted but no page showed in the last complete read; null if none. */
  readonly hiddenRows: number | null
  /** How complete it is; null where that is unknown, as in a copy without mart.data_health. */
  readonly completeness: Completeness | null
  /** Live records, those included in other records too. */
  readonly rows: number
  readonly proof: ProofRow
  readonly windows: readonly ScanRow[]
  /** Records that could not be loaded; null in a published copy. */
  readonly quarantined: number | null
  /** Undeclared fields and values, and digits lost to rounding. */
  readonly drifted: number
  readonly access: AccessRow['state'] | null
  readonly accessReason: string | null
  /** Kinds of keys that requested it, and how each reads it. */
  readonly keys: readonly { kind: AccessRow['key_kind']; way: AccessRow['way']; state: AccessRow['state'] }[]
}

async function count(engine: Engine, from: string): Promise<number> {
  const [row] = await engine.rows<{ n: number }>(`select count(*) as n from ${from}`)
  return Number(row?.n ?? 0)
}

/** Unlike rows of its own reading, counts records that another one includes, as the marts do. */
const countRead = (engine: Engine, resource: Resource): Promise<number> => {
  const { table } = resource
  return isInferred(resource).includes(' not in ')
    ? count(
        engine,
        `star.${quoteName(table.name)} where ${table.key} <> '-1' and not is_deleted and not (${isInferred(resource)})`,
      )
    : countLive(engine, resource)
}

interface LastRun {
  readonly state: RunResourceRow['state'] | null
  readonly note: string | null
  readonly lastRunAt: string | null
}

async function lastRun(engine: Engine, resource: string, tables: ReadonlySet<string>): Promise<LastRun> {
  const table = tables.has('run_resource')
    ? `select run_id, state, note from ops.run_resource where resource = $1`
    : `select run_id, null as state, null as note from ops.scan where resource = $1 and kind <> 'sweep'`
  const [row] = await engine.rows<{ state: LastRun['state']; note: string | null; at: string }>(
    `select q.state, q.note, r.started_at as at from (${table}) as q join ops.run as r on r.run_id = q.run_id
     order by r.started_at desc limit 1`,
    [resource],
  )
  return { state: row?.state ?? null, note: row?.note ?? null, lastRunAt: row?.at ?? null }
}

/** Which state wins if several kinds of keys sync into one warehouse: a loss first, then readable. */
const precedence: readonly AccessRow['state'][] = [
  ...(['no longer readable', 'readable', 'refused', 'not for this kind of key'] as const),
]

/** Access of each kind of key that requested it, in order of precedence. */
async function accessOf(engine: Engine, resource: string): Promise<readonly AccessRow[]> {
  const query = ledger(engine).selectFrom('ops.key_access').selectAll().where('resource', '=', resource)
  const rows = await query.orderBy('key_kind').execute()
  return rows.sort((one, other) => precedence.indexOf(one.state) - precedence.indexOf(other.state))
}

async function troubleOf(engine: Engine, resource: string, tables: ReadonlySet<string>) {
  const of = `where resource = ${quoteText(resource)}`
  return {
    quarantined: tables.has('quarantine')
      ? await count(engine, `ops.quarantine ${of} and resolved_at is null`)
      : null,
    drifted: await count(engine, `ops.schema_drift ${of}`),
  }
}

const numberOf = (value: number | null | undefined): number | null => (value == null ? null : Number(value))

/** Fields that a published copy leaves out are null. */
export async function resourceState(
  engine: Engine,
  resource: Resource,
  words: ReadonlyMap<string, Completeness> = new Map(),
): Promise<ResourceState> {
  const { name } = resource
  const tables = await existingTables(engine)
  const watermark = await readWatermark(engine, name)
  const scans = await scansOf(engine, name)
  const access = tables.has('key_access') ? await accessOf(engine, name) : []
  const rows = await countRead(engine, resource)
  return {
    resource: name,
    ...(await lastRun(engine, name, tables)),
    watermark: watermark?.watermark ?? null,
    backfilledAt: watermark?.backfilled_at ?? null,
    emptySince: rows > 0 ? (watermark?.empty_since ?? null) : null,
    pageSize: numberOf(watermark?.page_size),
    hiddenRows: numberOf(watermark?.hidden_rows) ?? (hiddenInScopes(currentScans(scans)) || null),
    completeness: words.get(name) ?? null,
    rows,
    proof: proofOf(scans),
    windows: scans,
    ...(await troubleOf(engine, name, tables)),
    access: access[0]?.state ?? null,
    accessReason: access[0]?.reason ?? null,
    keys: access.map(({ key_kind: kind, way, state }) => ({ kind, way, state })),
  }
}

/** Resources that the last sync did not finish because a budget or deadline was reached. */
export async function stoppedResources(engine: Engine): Promise<readonly string[]> {
  const rows = await engine.rows<{ resource: string }>(
    `select resource from (
       select q.resource, q.state, row_number() over (partition by q.resource order by r.started_at desc) as place
       from ops.run_resource as q join ops.run as r on r.run_id = q.run_id where r.command = 'sync') as ranked
     where place = 1 and state = 'stopped' order by resource`,
  )
  return rows.map(({ resource }) => resource)
}

/** End of the last sync that finished; null before the first. */
export async function lastDoneSync(engine: Engine): Promise<string | null> {
  const [row] = await ledger(engine)
    .selectFrom('ops.run')
    .select('finished_at')
    .where('command', '=', 'sync')
    .where('state', '=', 'done')
    .orderBy('finished_at', 'desc')
    .limit(1)
    .execute()
  return row?.finished_at ?? null
}
