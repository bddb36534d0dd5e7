/** Stores the last crosscheck and the calibrated definition of the metrics. */
import type { Engine } from '../../warehouse/engine.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import { existingTables } from '../existing-tables.ts'
import { ledger } from '../ledger.ts'
import type { CrosscheckRow, MetricCalibrationRow } from './tables.ts'

const columns = [
  'run_id',
  'metric',
  'group_by',
  'group_key',
  'group_label',
  'figure',
  'ours',
  'theirs',
  'difference',
  'verdict',
  'reason',
  'records',
  'definition_id',
  'checked_at',
] as const satisfies readonly (keyof CrosscheckRow)[]

const literal = (value: string | number | null): string =>
  value === null ? 'null' : typeof value === 'number' ? `${value}::double precision` : quoteText(value)

/** Writes values into the text: binding 10,000 values a statement takes DuckDB ten times as long. */
const rowsPerStatement = 500

/** Replaces the rows of the last crosscheck. */
export async function replaceCrosscheck(engine: Engine, rows: readonly CrosscheckRow[]): Promise<void> {
  await engine.transaction(async engine => {
    await engine.run('delete from ops.crosscheck')
    for (let from = 0; from < rows.length; from += rowsPerStatement) {
      const some = rows
        .slice(from, from + rowsPerStatement)
        .map(row => `(${columns.map(name => literal(row[name])).join(', ')})`)
      await engine.run(`insert into ops.crosscheck (${columns.join(', ')}) values ${some.join(', ')}`)
    }
  })
}

/** The last crosscheck in figures. */
export interface CrosscheckVerdict {
  readonly checkedAt: string
  readonly compared: number
  readonly unexplained: number
  /** Records that the service counts but whose id is unknown. */
  readonly uncovered: number
}

/** Undefined before the first crosscheck. */
export async function lastCrosscheck(engine: Engine): Promise<CrosscheckVerdict | undefined> {
  if (!(await existingTables(engine)).has('crosscheck')) return undefined
  const [row] = await engine.rows<Record<keyof CrosscheckVerdict, string | number | null>>(
    `select max(checked_at) as "checkedAt", count(*) as compared,
       sum(case when verdict = 'unexplained' then 1 else 0 end) as unexplained,
       sum(case when verdict = 'uncovered' then 1 else 0 end) as uncovered
     from ops.crosscheck`,
  )
  if (!row || row.checkedAt === null) return undefined
  return {
    checkedAt: String(row.checkedAt),
    compared: Number(row.compared),
    unexplained: Number(row.unexplained),
    uncovered: Number(row.uncovered),
  }
}

/** Empty before the first calibration. */
export async function readCalibration(engine: Engine): Promise<readonly MetricCalibrationRow[]> {
  if (!(await existingTables(engine)).has('metric_calibration')) return []
  return ledger(engine).selectFrom('ops.metric_calibration').selectAll().execute()
}

/** Replaces the rows of the last calibration. */
export async function replaceCalibration(
  engine: Engine,
  rows: readonly MetricCalibrationRow[],
): Promise<void> {
  await engine.transaction(async engine => {
    await ledger(engine).deleteFrom('ops.metric_calibration').execute()
    for (const row of rows) await ledger(engine).insertInto('ops.metric_calibration').values(row).execute()
  })
}
