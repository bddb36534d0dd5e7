/** A sync of changed timesheets, written straight into star: `star-changes.ts FILE COUNT ROUND`. They lie in the last weeks. */
import { recordChanges } from '../../src/state/marts/changes.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'

const [file = '', count = '500', round = '1'] = process.argv.slice(2)
const engine = await openDuckdb(file)
const at = `timestamptz '2026-11-02 03:00:00Z' + interval '${round} minutes'`
await engine.run(
  `create temp table changed as select timesheet_id as record_key from star.fact_timesheet
   where hash(timesheet_id || '${round}') % 10 = 0 order by week_ending_date desc, timesheet_id limit ${count}`,
)
await engine.transaction(async engine => {
  const [row] = await engine.rows<{ n: number }>('select count(*) as n from changed')
  const changes = Number(row?.n)
  await engine.run(
    `insert into history.fact_timesheet by name
     select t.*, t.source_updated_at as valid_from, ${at} as valid_to
     from star.fact_timesheet as t join changed on changed.record_key = t.timesheet_id`,
  )
  await engine.run(
    `update star.fact_timesheet set net_hours = net_hours + 1, status = case status when 'approved' then 'pending_approval' else 'approved' end,
       source_updated_at = ${at}, loaded_at = ${at} where timesheet_id in (select record_key from changed)`,
  )
  await recordChanges(engine, 'timesheets', { ids: 'changed', changes })
  await engine.run(
    `insert into ops.run (run_id, command, arguments, state, started_at, finished_at, requests, retries, records_read, rows_inserted, rows_changed, rows_removed, records_unchanged, quarantined, program_version)
     values ('bench ${round}', 'sync', '', 'done', ${at}, ${at}, 1, 0, ${changes}, 0, ${changes}, 0, 0, 0, 'bench')`,
  )
})
await engine.run('checkpoint')
await engine.close()
