/** Records that could not be loaded, with the reason and all that was received. */

import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import type { Staged } from '../../load/read/batch.ts'
import type { PageTrouble } from '../../load/read/page-repair.ts'
import { type PageFile, perPage } from '../../load/read/pages.ts'
import type { StagePlan } from '../../load/read/plan.ts'
import type { Engine, TemporaryTable, TypedColumn } from '../../warehouse/engine.ts'
import { quoteNames, quoteText } from '../../warehouse/sql-text.ts'
import { ledger } from '../ledger.ts'
import type { OpenCases } from './open-cases.ts'
import type { QuarantineRow } from './tables.ts'

interface Kept {
  readonly plan: StagePlan
  readonly pages: readonly PageFile[]
  readonly trouble: readonly PageTrouble[]
  readonly staged: Staged
}

const columns: readonly TypedColumn[] = [
  { name: 'quarantine_id', sql: 'text' },
  { name: 'resource', sql: 'text' },
  { name: 'record_id', sql: 'text' },
  { name: 'path', sql: 'text' },
  { name: 'text', sql: 'text' },
  { name: 'reason', sql: 'text' },
  { name: 'payload', sql: 'text' },
  { name: 'page', sql: 'text' },
  { name: 'run_id', sql: 'text' },
  { name: 'seen_at', sql: 'timestamptz' },
]

/** One row per leaf that was lost; the same leaf of the same text is kept once, however often it is read. */
function fromVerdicts({ plan, pages }: Kept): string {
  const id = plan.resource.table.columns[plan.root.table.key]
  const path = id?.source.from === 'field' ? id.source.path.join('.') : undefined
  const record = path ? `json_extract_string(r.j, ${quoteText(`$.${path}`)})` : 'null'
  return `create or replace temp table stage_quarantine as
    select md5(concat_ws('|', resource, coalesce(record_id, payload), path, coalesce(text, ''), reason)) as quarantine_id, *
    from (
      select ${quoteText(plan.resource.name)} as resource, ${record} as record_id, v.path, v.text, v.reason,
        coalesce(cast(r.j as varchar), 'null') as payload, ${perPage(pages, page => basename(page.file))} as page,
        ${perPage(pages, page => page.runId)} as run_id, cast(${perPage(pages, page => page.fetchedAt)} as timestamptz) as seen_at
      from stage_verdict v join suspect_record r using (locator) where v.reason <> 'rounded') q
    qualify row_number() over (partition by quarantine_id order by seen_at desc) = 1`
}

/** Makes in the stage the tables that keepQuarantine reads; they have to be received first. */
export async function quarantineTables(engine: Engine, kept: Kept): Promise<TemporaryTable[]> {
  if (kept.staged.quarantined === 0) return []
  await engine.stage.run(fromVerdicts(kept))
  return [{ name: 'stage_quarantine', columns }]
}

async function keepVerdicts(engine: Engine): Promise<void> {
  const names = quoteNames(columns.map(({ name }) => name))
  await engine.run(
    `insert into ops.quarantine (${names}) select ${names} from stage_quarantine where true
     on conflict (quarantine_id) do update set resolved_at = null, seen_at = excluded.seen_at`,
  )
}

function troubleRow(resource: string, { page, payload, reason }: PageTrouble): QuarantineRow {
  const record = (JSON.parse(payload) as { id?: unknown } | null)?.id
  return {
    quarantine_id: createHash('md5').update(payload).digest('hex'),
    resource,
    record_id: record === undefined ? null : String(record),
    path: '',
    text: null,
    reason,
    payload,
    page: basename(page.file),
    run_id: page.runId,
    seen_at: page.fetchedAt,
    resolved_at: null,
  }
}

async function keepTrouble(engine: Engine, { plan, trouble }: Kept): Promise<void> {
  const rows = new Map(
    trouble.map(one => {
      const row = troubleRow(plan.resource.name, one)
      return [row.quarantine_id, row]
    }),
  )
  await ledger(engine)
    .insertInto('ops.quarantine')
    .values([...rows.values()])
    .onConflict(conflict =>
      conflict
        .column('quarantine_id')
        .doUpdateSet({ resolved_at: null, seen_at: eb => eb.ref('excluded.seen_at') }),
    )
    .execute()
}

/** Writes what this batch could not load, and closes what it could load after all; the tables of quarantineTables have been received. */
export async function keepQuarantine(engine: Engine, kept: Kept, open: OpenCases): Promise<void> {
  const { plan, trouble, staged } = kept
  if (open.quarantined > 0) {
    await engine.run(
      `update ops.quarantine as q set resolved_at = d.loaded_at from delta d
       where q.resource = $1 and q.resolved_at is null and q.record_id = d.record_key and d.state <> 'gone'`,
      [plan.resource.name],
    )
  }
  if (staged.quarantined > 0) await keepVerdicts(engine)
  if (trouble.length > 0) await keepTrouble(engine, kept)
}

/** Closes what was met last before a time (ISO 8601): everything has been read again since, without it. */
export async function closeQuarantine(
  engine: Engine,
  resource: string,
  { seenBefore, at }: { readonly seenBefore: string; readonly at: string },
): Promise<void> {
  await ledger(engine)
    .updateTable('ops.quarantine')
    .set({ resolved_at: at })
    .where('resource', '=', resource)
    .where('resolved_at', 'is', null)
    .where('seen_at', '<', seenBefore)
    .execute()
}
