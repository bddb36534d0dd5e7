/**
 * `npm run bench -- scale`: what 500 changed timesheets cost where 100,000 are stored, or as many as are named, and where so many more are. The older
 * ones are copies of what was synced, under other ids and times, written straight into the warehouse.
 */
import { cpSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { root } from './root.ts'
import { measured, middle, muster, type Spent, table } from './spent.ts'
import { startServer, type Workload } from './sync-run.ts'

export interface ScaleOptions {
  readonly stored: number
  readonly rounds: number
  /** So many come from the service; the others are copies of them. */
  readonly synced: number
}

const changed = 500

/** What was synced spans 19 months. */
const yearsBetween = 2
/** Ids begin with a second since 1970: those of a hundred copies must all lie after it. */
const secondsBetween = 16_000_000

interface Found {
  readonly name: string
  readonly columns: readonly { readonly name: string; readonly type: string }[]
}

async function tablesOfTimesheets(engine: Engine): Promise<Found[]> {
  const rows = await engine.rows<{ name: string; columns: string }>(
    `select table_schema || '.' || table_name as name, to_json(list({name: column_name, type: data_type}))::varchar as columns
     from information_schema.columns join information_schema.tables using (table_catalog, table_schema, table_name)
     where table_schema in ('star', 'pii') and table_catalog = 'warehouse' and table_type = 'BASE TABLE'
     group by all having count(*) filter (column_name = 'timesheet_id') = 1`,
  )
  const found: Found[] = []
  for (const { name, columns } of rows) {
    const [some] = await engine.rows<{ n: bigint }>(
      `select count(*) as n from ${name} where timesheet_id <> '-1'`,
    )
    if (Number(some?.n) > 0) found.push({ name, columns: JSON.parse(columns) })
  }
  return found
}

/** All times of the copied rows lie that much earlier, and their ids before those that are copied. */
function copied({ name, columns }: Found, copy: number): string {
  const values = columns.map(({ name: column, type }) => {
    if (column === 'timesheet_id' || column === 'timelog_id')
      return `format('{:08x}', cast('0x' || substr("${column}", 1, 8) as bigint) - ${copy * secondsBetween}) || substr("${column}", 9) || '-' as "${column}"`
    if (column.endsWith('_key')) return `"${column}" || '-${copy}' as "${column}"`
    if (type.startsWith('TIMESTAMP'))
      return `"${column}" - interval '${copy * yearsBetween} years' as "${column}"`
    return `"${column}"`
  })
  const own = `timesheet_id <> '-1' and not contains(timesheet_id, '-')`
  return `insert into ${name} by name select ${values.join(', ')} from ${name} where ${own}`
}

async function grow(file: string, { stored, synced }: ScaleOptions): Promise<void> {
  const engine = await openDuckdb(file, { memoryLimit: '1GB' })
  try {
    const tables = await tablesOfTimesheets(engine)
    for (let copy = 1; copy * synced < stored; copy += 1) {
      for (const one of tables) await engine.run(copied(one, copy))
      await engine.makeLasting()
    }
    await engine.run(
      `update ops.scan set last_total = ${stored} where resource = 'timesheets' and kind = 'incremental'`,
    )
  } finally {
    await engine.close()
  }
}

export async function benchScale(options: ScaleOptions): Promise<void> {
  const { stored, rounds, synced } = options
  const folder = mkdtempSync(join(tmpdir(), 'muster-scale-'))
  const few: Workload = { count: synced, timelogs: 'without' }
  const many = { ...few, older: stored - synced }
  const servers = await Promise.all([few, { ...few, changed }, many, { ...many, changed }].map(startServer))
  const [small, smallLater, large, largeLater] = servers.map(({ url }) => url) as [
    string,
    string,
    string,
    string,
  ]
  const fileOf = (name: string): string => join(folder, name, 'synced.duckdb')
  const sync = (file: string, url: string, ...more: string[]): Promise<Spent> =>
    muster(root, ['sync', 'timesheets', '--quiet', ...more], { url, warehouse: `duckdb:${file}` })
  const spent = new Map<string, Spent[]>()
  const add = (name: string, one: Spent): void => void spent.set(name, [...(spent.get(name) ?? []), one])
  try {
    await sync(fileOf('small'), small)
    for (let times = 0; times < 2; times += 1) await sync(fileOf('small'), small)
    cpSync(join(folder, 'small'), join(folder, 'large'), { recursive: true })
    await grow(fileOf('large'), options)
    await sync(fileOf('large'), large)
    for (let round = 0; round < rounds; round += 1)
      for (const [name, same, later] of [
        ['small', small, smallLater],
        ['large', large, largeLater],
      ] as const) {
        const of = (name === 'small' ? synced : stored).toLocaleString('en')
        rmSync(join(folder, 'copy'), { recursive: true, force: true })
        cpSync(join(folder, name), join(folder, 'copy'), { recursive: true })
        const copy = fileOf('copy')
        if (name === 'small')
          add('floor', await measured(['--import', 'tsx', 'test/bench/open-floor.ts', copy]))
        add(`nothing new, ${of} stored`, await sync(copy, same))
        add(`${changed} changed, ${of} stored`, await sync(copy, later))
      }
    const megabytes = (name: string): number => Math.round(statSync(fileOf(name)).size / 1e6)
    console.log(
      `timesheets without timelogs, ${megabytes('small')} and ${megabytes('large')} MB, medians of ${rounds} rounds`,
    )
    table(spent, middle(spent.get('floor') ?? []))
  } finally {
    for (const server of servers) server.process.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}
