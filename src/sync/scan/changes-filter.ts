/**
 * Whether the service filters a list by its change time when it is asked to. One that filters by another time leaves out the
 * changes of older records, so the filter is used only once the service has shown that it honours it.
 */
import { pageLimit } from '../../api/client/paging.ts'
import { dayMs, isWithin, utcDay, weekMs } from '../../lib/dates.ts'
import { MusterError } from '../../lib/errors.ts'
import type { WatermarkRow } from '../../state/scans/tables.ts'
import { readWatermark } from '../../state/scans/watermarks.ts'
import { liveRecords, recordKey } from '../../warehouse/schema/record-rows.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { fenced } from '../run/hold-lease.ts'
import { pageSizeOf, pagingOf, scanOf, setWatermark } from './collection-window.ts'

/** The zone and the inclusivity of the day filter are unknown. */
const slackDays = 2

/** Whether a record is one that a filter by any other time than the change time leaves out from a day on. */
function oldBy(task: ResourceTask, before: string): string {
  const { filteredByDefault } = scanOf(task)
  const columns = ['created_at', ...(filteredByDefault === undefined ? [] : [filteredByDefault])]
  return columns.map(name => `t.${quoteName(name)} < ${before}`).join(' and ')
}

interface Proof {
  readonly from: string
  /** Page of a list from that day on, the latest change first, that has the record. */
  readonly page: number
}

/**
 * The stored record that changed last of those that were old by then; undefined where none was. The engines skip the rows that
 * changed before `since`, a UTC day.
 */
async function findProof(
  task: ResourceTask,
  { pageSize, since }: { readonly pageSize: number; readonly since: string | undefined },
): Promise<Proof | undefined> {
  const { engine } = task.sync
  const recent =
    since === undefined ? '' : ` and t.source_updated_at >= cast(${quoteText(since)} as timestamptz)`
  // Kept in memory where they are few: without an index PostgreSQL reads the table once instead of twice.
  const kept = since === undefined ? 'not materialized' : 'materialized'
  const old = oldBy(task, `t.source_updated_at - interval '${2 * slackDays + 1} days'`)
  const [last] = await engine.rows<{ changed: string | null; n: number }>(
    `with recent as ${kept} (
       select t.source_updated_at as moment, ${old} as is_old from ${liveRecords(task.resource)}${recent}),
     last as (select max(moment) as moment from recent where is_old)
     select cast(last.moment as varchar) as changed,
       (select count(*) from recent where recent.moment > last.moment) as n from last`,
  )
  if (!last?.changed) return undefined
  const page = 1 + Math.floor(Number(last.n) / pageSize)
  return { from: utcDay(new Date(Date.parse(last.changed) - slackDays * dayMs).toISOString()), page }
}

async function isShown(task: ResourceTask, { from, page }: Proof, limit = pageLimit): Promise<boolean> {
  const { sync, resource, counters } = task
  const order = { sortBy: 'updatedAt', sortOrder: 'desc', page, limit }
  const query = { ...resource.query, ...scanOf(task).changedSince, from, ...order, fields: 'id' }
  const answer = await sync.client.getPage(resource.path, query, { mayBeHollow: true })
  counters.requests += 1
  const ids = (answer.records() as readonly { readonly id?: unknown }[]).flatMap(one =>
    typeof one?.id === 'string' ? [quoteText(one.id)] : [],
  )
  if (ids.length === 0) return false
  const before = `cast(${quoteText(utcDay(from, -slackDays))} as timestamptz)`
  const [row] = await sync.engine.rows<{ n: number }>(
    `select count(*) as n from ${liveRecords(resource)} and ${oldBy(task, before)} and ${recordKey(resource)} in (${ids.join(', ')})`,
  )
  return Number(row?.n ?? 0) > 0
}

/** A record that changes while it is asked for may be on another page: one answer that lacks it is not believed for good. */
function isDue({ sync }: ResourceTask, { changes_filter, filter_asked_at }: WatermarkRow): boolean {
  const isRecent = filter_asked_at !== null && isWithin(filter_asked_at, sync.clock.now(), weekMs)
  return changes_filter !== 'honoured' && !isRecent
}

/** For a filtered list that counts changes which it does not show. */
export async function doubtFilter(task: ResourceTask): Promise<void> {
  await fenced(task, engine =>
    setWatermark(engine, task, { changes_filter: 'ignored', filter_asked_at: now(task.sync) }),
  )
}

/**
 * One request, once a stored record can tell. To be asked when records have changed: of those that changed before `known`, the
 * watermark then, an earlier run has asked. Everything has been read by then, so where it is not answered, a run asks that meets
 * the next change of an old record.
 */
export async function learnFilter(task: ResourceTask, known?: string | null): Promise<void> {
  if (!scanOf(task).changedSince) return
  const watermark = await readWatermark(task.sync.engine, task.resource.name)
  if (!watermark?.watermark || !watermark.backfilled_at || !isDue(task, watermark)) return
  const since = known ? utcDay(known, -slackDays) : undefined
  const proof = await findProof(task, { pageSize: pageSizeOf(watermark), since })
  if (!proof) return
  const isHonoured = await isShown(task, proof, pagingOf(watermark).pageLimit).catch(error => {
    if (error instanceof MusterError) return undefined
    throw error
  })
  if (isHonoured === undefined) return
  if (!isHonoured)
    task.counters.note =
      'the filter by updatedAt left out a record that changed: changes are read from the whole list, and it is asked again in a week'
  const changes_filter = isHonoured ? 'honoured' : 'ignored'
  await fenced(task, engine =>
    setWatermark(engine, task, { changes_filter, filter_asked_at: now(task.sync) }),
  )
}
