/** Freezes the figures of month ends: later records do not change a closed month. */
import type { Engine } from '../../warehouse/engine.ts'
import { quoteNames, quoteText } from '../../warehouse/sql-text.ts'
import { ledger } from '../ledger.ts'
import type { AccrualMonthEndRow } from './tables.ts'

/** YYYY-MM-DD; null before the first. */
export async function lastMonthEnd(engine: Engine): Promise<string | null> {
  const row = await ledger(engine)
    .selectFrom('ops.accrual_month_end')
    .select(({ fn }) => fn.max('month_end_date').as('day'))
    .executeTakeFirst()
  return row?.day ? String(row.day).slice(0, 10) : null
}

const figures = [
  'month_end_date',
  'company_id',
  'project_id',
  'agency_id',
  'accrual_state',
  'records',
  'net_hours',
  'accrued_value',
] as const satisfies readonly (keyof AccrualMonthEndRow)[]

/** `select` returns the figures of one month; `keptAt` is ISO 8601. */
export async function keepMonthEnd(engine: Engine, select: string, keptAt: string): Promise<number> {
  return engine.run(
    `insert into ops.accrual_month_end (${quoteNames([...figures, 'recorded_at'])})
     select ${quoteNames(figures)}, cast(${quoteText(keptAt)} as timestamptz) from (
${select}
     ) as accrued`,
  )
}
