/** Brings the files of an event log into the inbox of a DuckDB warehouse: each as a set, all in one transaction. */
import type { Engine } from '../warehouse/engine.ts'
import { quoteText } from '../warehouse/sql-text.ts'
import type { EventLog } from './event-log.ts'

const fields = {
  id: 'varchar',
  type: 'varchar',
  entity: 'varchar',
  recordId: 'varchar',
  createdAt: 'timestamptz',
  receivedAt: 'timestamptz',
  state: 'varchar',
  payload: 'varchar',
}

const shape = Object.entries(fields)
  .map(([name, type]) => `${name}: ${quoteText(type)}`)
  .join(', ')

/** A last line that a dying process did not finish is no JSON; nobody was told that it is stored. */
function arrivals(files: readonly string[]): string {
  const list = files.map(quoteText).join(', ')
  return `select id, arg_min(columns(* exclude (id)), "receivedAt"), count(*) as deliveries
    from read_json([${list}], format = 'newline_delimited', columns = {${shape}}, ignore_errors = true)
    where id is not null and "receivedAt" is not null group by id`
}

/** Returns how many deliveries were in the files, which are gone then. */
export async function loadEventLog(engine: Engine, log: EventLog): Promise<number> {
  const files = await log.seal()
  if (files.length === 0) return 0
  const loaded = await engine.transaction(async engine => {
    await engine.run(`create or replace temp table arrival as ${arrivals(files)}`)
    await engine.run(
      `update ops.inbox set deliveries = inbox.deliveries + a.deliveries from arrival a where a.id = inbox.event_id`,
    )
    await engine.run(
      `update star.fact_webhook_event set delivered_count = delivered_count + a.deliveries
       from arrival a where a.id = fact_webhook_event.event_id`,
    )
    await engine.run(
      `insert into ops.inbox (event_id, type, entity, record_id, created_at, received_at, deliveries, state, payload)
       select id, type, entity, "recordId", "createdAt", "receivedAt", deliveries, state, payload from arrival
       where not exists (select 1 from ops.inbox i where i.event_id = arrival.id)`,
    )
    const [row] = await engine.rows<{ n: string | number }>(
      'select coalesce(sum(deliveries), 0) as n from arrival',
    )
    await engine.run('drop table arrival')
    return Number(row?.n ?? 0)
  })
  await log.remove(files)
  return loaded
}
