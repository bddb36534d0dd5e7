/**
 * Learns whether the service really filters a list by change time. A service that filters by another time leaves out
 * changes to older records, so the filter is used only after it has proved to work.
 */
import { dayMs, isWithin, utcDay, weekMs } from '../../lib/dates.ts'
import { MusterError } from '../../lib/errors.ts'
import { numberOf, onlyRow } from '../../state/ledger.ts'
import type { WatermarkRow } from '../../state/scans/tables.ts'
import { readWatermark } from '../../state/scans/watermarks.ts'
import { liveRecords, recordKey } from '../../warehouse/schema/record-rows.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { fenced } from '../run/renew-lease.ts'
import { pageSizeOf, scanOf, setWatermark } from './collection-window.ts'

/** It is unknown which time zone the day filter uses, and whether it is inclusive. */
const slackDays = 2

/** SQL condition: a filter by any time other than the change time would leave out the record. */
function oldBy(task: ResourceTask, before: string): string {
  const { filteredByDefault } = scanOf(task)
  const columns = ['created_at', ...(filteredByDefault === undefined ? [] : [filteredByDefault])]
  return columns.map(name => `t.${quoteName(name)} < ${before}`).join(' and ')
}

interface FilterProof {
  readonly from: string
  /** Page that has the record, in a list from that day on, latest change first. */
  readonly page: number
}

/**
 * Finds the most recently changed record that is old by its other times; undefined when there is none. Lets the engine
 * skip rows that changed before `since`, a UTC day.
 */
async function findProof(
  task: ResourceTask,
  { pageSize, since }: { readonly pageSize: number; readonly since: string | undefined },
): Promise<FilterProof | undefined> {
  const { engine } = task.sync
  const recent =
    since === undefined ? '' : ` and t.source_updated_at >= cast(${quoteText(since)} as timestamptz)`
  // Materialize only a few rows: without an index, PostgreSQL then reads the table once instead of twice.
  const materialization = since === undefined ? 'not materialized' : 'materialized'
  const old = oldBy(task, `t.source_updated_at - interval '${2 * slackDays + 1} days'`)
  const last = await onlyRow<{ changed: string | null; n: number }>(
    engine,
    `with recent as ${materialization} (
       select t.source_updated_at as changed_at, ${old} as is_old from ${liveRecords(task.resource)}${recent}),
     last as (select max(changed_at) as changed_at from recent where is_old)
     select cast(last.changed_at as varchar) as changed,
       (select count(*) from recent where recent.changed_at > last.changed_at) as n from last`,
  )
  if (!last.changed) return undefined
  const page = 1 + Math.floor(Number(last.n) / pageSize)
  return { from: utcDay(new Date(Date.parse(last.changed) - slackDays * dayMs).toISOString()), page }
}

async function isShown(task: ResourceTask, { from, page }: FilterProof, limit: number): Promise<boolean> {
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
  const proofs = await numberOf(
    sync.engine,
    `select count(*) as n from ${liveRecords(resource)} and ${oldBy(task, before)} and ${recordKey(resource)} in (${ids.join(', ')})`,
  )
  return proofs > 0
}

/**
 * Whether to test the filter again. A record that changes during the request may move to another page, so one failed
 * test is not final.
 */
function isDue({ sync }: ResourceTask, { changes_filter, filter_asked_at }: WatermarkRow): boolean {
  const isRecent = isWithin(filter_asked_at ?? '', sync.clock.now(), weekMs)
  return changes_filter !== 'honoured' && !isRecent
}

/** For a filtered list that counts changes but does not show them. */
export async function doubtFilter(task: ResourceTask): Promise<void> {
  await fenced(task, engine =>
    setWatermark(engine, task, { changes_filter: 'ignored', filter_asked_at: now(task.sync) }),
  )
}

/**
 * Sends one request, once a stored record can prove the filter. Call it after records have changed: `known` is the
 * previous watermark, and an earlier run has tested the changes before it. Everything is already read by now, so if the
 * request fails, the next run that meets a change to an old record tries again.
 */
export async function learnFilter(task: ResourceTask, known?: string | null): Promise<void> {
  if (!scanOf(task).changedSince) return
  const watermark = await readWatermark(task.sync.engine, task.resource.name)
  if (!watermark?.watermark || !watermark.backfilled_at || !isDue(task, watermark)) return
  const since = known ? utcDay(known, -slackDays) : undefined
  const proof = await findProof(task, { pageSize: pageSizeOf(watermark), since })
  if (!proof) return
  const isHonoured = await isShown(task, proof, pageSizeOf(watermark)).catch(error => {
    if (error instanceof MusterError) return undefined
    throw error
  })
  if (isHonoured === undefined) return
  if (!isHonoured)
    task.counters.note =
      'the filter by updatedAt left out a changed record: changes are read from the full list, and the filter is tested again in a week'
  const changes_filter = isHonoured ? 'honoured' : 'ignored'
  await fenced(task, engine =>
    setWatermark(engine, task, { changes_filter, filter_asked_at: now(task.sync) }),
  )
}
