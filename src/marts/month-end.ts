/** Records the accrual of a month that has ended, once: in the first build after the service was read on a later day. */
import { utcDay } from '../lib/dates.ts'
import { keepMonthEnd, lastMonthEnd } from '../state/marts/month-ends.ts'
import type { Engine } from '../warehouse/engine.ts'
import { sqlFiles } from '../warehouse/sql-files.ts'
import { dayOf, fillTokens, type ReportingTime } from './inputs.ts'

const accrual = (): string =>
  sqlFiles('month-end').find(({ name }) => name === 'month-end/accrual_month_end.sql')?.text ?? ''

/** Last day of the month before the one in which the service was last read. */
const endedMonth = (asOf: string, zone: string): string =>
  utcDay(`${dayOf(Date.parse(asOf), zone).slice(0, 7)}-01T00:00:00Z`, -1)

/** Returns the number of recorded rows; `now` is ISO 8601. */
export async function keepAccrual(engine: Engine, at: ReportingTime, now: string): Promise<number> {
  if (at.asOf === null) return 0
  const previous = await lastMonthEnd(engine)
  if (previous !== null && previous >= endedMonth(at.asOf, at.zone)) return 0
  return engine.transaction(async engine => {
    await engine.planForFullScans()
    return keepMonthEnd(engine, fillTokens(accrual(), at), now)
  })
}
