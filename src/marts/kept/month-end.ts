/** Keeps the accrual of a month that has ended, once: the first build after the service was read on a later day does. */
import { utcDay } from '../../lib/dates.ts'
import { keepMonthEnd, lastKeptMonthEnd } from '../../state/marts/month-ends.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { sqlFiles } from '../../warehouse/sql-files.ts'
import { dayOf, fillTokens, type Moment } from '../inputs.ts'

const accrual = (): string =>
  sqlFiles('keep').find(({ name }) => name === 'keep/accrual_month_end.sql')?.text ?? ''

/** The day before the month in which the service was last read. */
const endedMonth = (asOf: string, zone: string): string =>
  utcDay(`${dayOf(Date.parse(asOf), zone).slice(0, 7)}-01T00:00:00Z`, -1)

/** Returns the number of rows that were kept; `now` is ISO 8601. */
export async function keepAccrual(engine: Engine, moment: Moment, now: string): Promise<number> {
  if (moment.asOf === null) return 0
  const kept = await lastKeptMonthEnd(engine)
  if (kept !== null && kept >= endedMonth(moment.asOf, moment.zone)) return 0
  return engine.transaction(async engine => {
    await engine.planForWholeTables()
    return keepMonthEnd(engine, fillTokens(accrual(), moment), now)
  })
}
