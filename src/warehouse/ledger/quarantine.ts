/** Records that could not be loaded, with the reason and all that was received. */
import { basename } from 'node:path'
import type { Engine } from '../engine.ts'
import type { PageTrouble } from '../page-repair.ts'
import { quoteText } from '../sql-text.ts'
import type { Staged } from '../stage/batch.ts'
import { type PageFile, perPage } from '../stage/pages.ts'
import type { StagePlan } from '../stage/plan.ts'

interface Kept {
  readonly plan: StagePlan
  readonly pages: readonly PageFile[]
  readonly trouble: readonly PageTrouble[]
  readonly staged: Staged
}

/** One row per leaf that was lost; the same leaf of the same text is kept once, however often it is read. */
function fromVerdicts({ plan, pages }: Kept): string {
  const id = plan.resource.table.columns[plan.root.table.key]
  const path = id?.source.from === 'field' ? id.source.path.join('.') : undefined
  const record = path ? `json_extract_string(r.j, ${quoteText(`$.${path}`)})` : 'null'
  return `insert into ops.quarantine
    select md5(concat_ws('|', resource, coalesce(record_id, payload), path, coalesce(text, ''), reason)), * from (
      select ${quoteText(plan.resource.name)} as resource, ${record} as record_id, v.path, v.text, v.reason,
        coalesce(cast(r.j as varchar), 'null') as payload, ${perPage(pages, page => basename(page.file))} as page,
        ${perPage(pages, page => page.runId)} as run_id, cast(${perPage(pages, page => page.fetchedAt)} as timestamptz) as seen_at,
        cast(null as timestamptz) as resolved_at
      from stage_verdict v join suspect_record r using (locator) where v.reason <> 'rounded') q
    on conflict (quarantine_id) do update set resolved_at = null, seen_at = excluded.seen_at`
}

async function fromPages(engine: Engine, { plan, trouble }: Kept): Promise<void> {
  for (const { page, payload, reason } of trouble) {
    const record = (JSON.parse(payload) as { id?: unknown } | null)?.id
    await engine.run(
      `insert into ops.quarantine values (md5($1), $2, $3, '', null, $4, $1, $5, $6, $7, null)
       on conflict (quarantine_id) do update set resolved_at = null, seen_at = excluded.seen_at`,
      [
        payload,
        plan.resource.name,
        record === undefined ? null : String(record),
        reason,
        basename(page.file),
        page.runId,
        page.fetchedAt,
      ],
    )
  }
}

/** Writes what this batch could not load, and closes what it could load after all. */
export async function keepQuarantine(engine: Engine, kept: Kept): Promise<void> {
  const { plan, trouble, staged } = kept
  const [open] = await engine.rows<{ n: number }>(
    'select count(*) as n from ops.quarantine where resource = $1 and resolved_at is null',
    [plan.resource.name],
  )
  if (Number(open?.n ?? 0) > 0) {
    await engine.run(
      `update ops.quarantine as q set resolved_at = d.loaded_at from delta d
       where q.resource = $1 and q.resolved_at is null and q.record_id = d.record_key and d.state <> 'gone'`,
      [plan.resource.name],
    )
  }
  if (staged.quarantined > 0) await engine.run(fromVerdicts(kept))
  if (trouble.length > 0) await fromPages(engine, kept)
}
