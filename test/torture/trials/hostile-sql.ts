/** Statements that would read files, write them, change the warehouse or never end: refused, and nothing is different. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { complaint } from '../program.ts'
import { defined, type Trial } from '../trial.ts'

const statements: Readonly<Record<'duckdb' | 'postgres', readonly string[]>> = {
  duckdb: [
    `copy (select 1) to 'OUT'`,
    `explain analyze copy (select 1) to 'OUT'`,
    `export database 'OUT'`,
    `attach 'OUT' as other`,
    `install httpfs`,
    `load json`,
    `set enable_external_access = true`,
    `pragma database_list`,
    `call pragma_version()`,
    `checkpoint`,
    `select 1; drop table star.fact_timesheet`,
    `with a as (select 1) delete from star.fact_timesheet`,
    `update star.fact_timesheet set status = 'x'`,
    `create macro m() as 1`,
    `select * from read_csv('/etc/passwd')`,
    `select * from read_text('/etc/passwd')`,
    `select * from '/etc/passwd'`,
    `select * from glob('/etc/*')`,
    `select getenv('MUSTER_API_KEY')`,
    `select * from query_table('pii.worker')`,
    `from '/etc/passwd'`,
    `select * from 'OUT.duckdb'`,
    `select * from query('select name from pii.worker')`,
    `prepare p as select 1`,
  ],
  postgres: [
    `copy (select 1) to '/tmp/never'`,
    `copy star.fact_timesheet from program 'touch OUT'`,
    `select pg_read_file('/etc/passwd')`,
    `select lo_export(1, 'OUT')`,
    `select set_config('default_transaction_read_only', 'off', false)`,
    `set transaction read write`,
    `select 1; drop table star.fact_timesheet`,
    `with a as (delete from star.fact_timesheet returning 1) select * from a`,
    `create table public.x (y int)`,
    `do $$ begin perform 1; end $$`,
    `explain analyze delete from star.fact_timesheet`,
    `lock table star.fact_timesheet`,
    `vacuum`,
    `listen x`,
    `commit`,
    `set role postgres`,
    `select lo_import('/etc/passwd')`,
    `select "pg_catalog"."pg_read_file"('/etc/passwd')`,
    `explain (analyze) update star.fact_timesheet set status = 'x'`,
    `select 1 into t`,
  ],
}

/** A few of them a trial. */
const together = 5

export const hostileSql: Trial = async (arena, _, turn) => {
  const place = await arena.fresh()
  const all = statements[arena.engine]
  const before = JSON.stringify(await arena.dump(place))
  const out = join(place.folder, 'written')
  const broken: (string | undefined)[] = []
  for (let n = 0; n < together; n += 1) {
    const sql = (all[(turn * together + n) % all.length] ?? '').replace('OUT', out)
    const end = await arena.run(place, ['sql', sql])
    broken.push(complaint(end, [1, 2]))
    if (existsSync(out)) broken.push(`${sql} wrote ${readdirSync(place.folder).join(' ')}`)
  }
  if (JSON.stringify(await arena.dump(place)) !== before) broken.push('rows are different')
  await arena.remove(place)
  return { blows: together, broken: defined(broken) }
}
