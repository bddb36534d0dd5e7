/** A ledger of runs, readings, checks and comparisons that never were, each row by chance. */
import type { Engine } from '../../../src/warehouse/engine.ts'
import { quoteName, quoteNames } from '../../../src/warehouse/sql-text.ts'
import { soughtWords } from './sought-words.ts'
import { drawn, oneOf } from './worn-star.ts'

/** How many rows each of them gets. */
const rowsOf: Readonly<Record<string, number>> = {
  run: 12,
  run_resource: 60,
  scan: 60,
  sweep: 30,
  discovered: 80,
  quarantine: 60,
  check_result: 60,
  crosscheck: 300,
  unread: 30,
  evidence: 80,
  deletion: 40,
  api_usage: 20,
  key_access: 20,
}

interface Ledger {
  /** Another one for another number. */
  readonly seed: number
  /** Rows of further tables. */
  readonly rows: Readonly<Record<string, number>>
  /** Further words that statements ask for, by column. */
  readonly words: Readonly<Record<string, readonly string[]>>
}

interface Column {
  readonly name: string
  readonly type: string
  readonly nullable: string
}

/** Ids that other rows name. */
const few: Readonly<Record<string, number>> = { run_id: 10, check_name: 6, api_key_id: 4, scan_id: 40 }

function value(table: string, { name, type, nullable }: Column, ledger: Ledger | undefined): string {
  const place = ledger ? `${ledger.seed} ${table}` : table
  const draw = drawn(`'${place}'`, `'${name}'`, 'cast(n as text)')
  const drawnAnew = drawn(`'${name}'`, `'${place}'`, 'cast(n as text)')
  const words = ledger?.words[name] ?? soughtWords[name]
  const numbered = few[name] === undefined ? `${draw} % 5` : `${table === 'run' ? 'n' : draw} % ${few[name]}`
  const made = words
    ? oneOf(words, draw)
    : type === 'VARCHAR'
      ? `'${name} ' || (${numbered})`
      : type === 'BOOLEAN'
        ? `${draw} % 2 = 0`
        : type === 'DATE'
          ? `date '2026-11-02' - ${draw} % 40`
          : type.startsWith('TIMESTAMP')
            ? `timestamptz '2026-11-02 02:00:00+00' - to_hours(${draw} % 60)`
            : type === 'JSON'
              ? `'{}'`
              : `${numbered}`
  return nullable === 'YES' ? `case when ${drawnAnew} >= 150 then ${made} end` : made
}

export async function emptyLedger(engine: Engine): Promise<void> {
  for (const table of Object.keys(rowsOf)) await engine.run(`delete from ops.${table}`)
}

export async function wearLedger(engine: Engine, ledger?: Ledger): Promise<void> {
  const constraints = await engine.rows<{ name: string }>(
    `select table_name as name from duckdb_constraints() where schema_name = 'ops' and constraint_type in ('PRIMARY KEY', 'UNIQUE')`,
  )
  const keyed = new Set(constraints.map(({ name }) => name))
  for (const [table, rows] of Object.entries({ ...rowsOf, ...ledger?.rows })) {
    const columns = await engine.rows<Column>(
      `select column_name as name, data_type as type, is_nullable as nullable from information_schema.columns
       where table_catalog = current_database() and table_schema = 'ops' and table_name = '${table}' order by ordinal_position`,
    )
    await engine.run(
      `insert into ops.${table} (${quoteNames(columns.map(({ name }) => name))})
       select ${columns.map(column => `${value(table, column, ledger)} as ${quoteName(column.name)}`).join(', ')}
       from generate_series(1, ${rows}) as s(n) ${keyed.has(table) ? 'on conflict do nothing' : ''}`,
    )
  }
  await engine.run(
    `insert into ops.accrual_month_end select * replace (date '2026-09-30' as month_end_date, recorded_at - to_days(30) as recorded_at)
     from ops.accrual_month_end on conflict do nothing`,
  )
}
