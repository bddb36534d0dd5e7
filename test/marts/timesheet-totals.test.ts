/** Whether the totals of a timesheet include its piece work and its expense is the service's choice. */

import { expect, test } from 'vitest'
import { defaultDays } from '../../src/lib/day-rule.ts'
import { everyCheck } from '../../src/marts/checks/gate.ts'
import { failedRows, runCheck } from '../../src/marts/checks/run.ts'
import { readMarts } from '../../src/marts/mart.ts'
import { filledAt, useFilled } from '../support/filled-warehouse.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'

const filled = useFilled()
const moment = { asOf: filledAt, today: filledAt.slice(0, 10), ...defaultDays, now: filledAt }
const byName = new Map(everyCheck(readMarts()).map(check => [check.name, check]))

const pieces = (side: 'pay' | 'charge'): string =>
  `(select sum(e.total_${side}_value) from star.fact_piece_rate_entry as e where e.timesheet_id = fact_timesheet.timesheet_id)`

const paidByThePiece = `exists (select 1 from star.fact_piece_rate_entry as e where e.timesheet_id = fact_timesheet.timesheet_id)`

const including = ['pay', 'charge']
  .map(side => `${side}_total = ${side}_total + ${pieces(side as 'pay')}`)
  .join(', ')

describeOnEngines('totals of timesheets', ({ name }) => {
  test('may include piece work; the company keeps one of the sums, and a timesheet that keeps another is a warning', async () => {
    const { engine } = await filled[name]()
    const failing = async (which: string): Promise<number> => {
      const check = byName.get(which)
      if (!check) throw new Error(`there is no check ${which}`)
      return failedRows(await runCheck(engine, check, moment))
    }
    await engine.run(`update star.fact_timesheet set ${including} where ${paidByThePiece}`)
    expect([await failing('timesheet_buckets'), await failing('money_identities')]).toEqual([0, 0])

    const one = `timesheet_id = (select min(x.timesheet_id) from star.fact_piece_rate_entry as x)`
    await engine.run(`update star.fact_timesheet set pay_total = pay_total - ${pieces('pay')} where ${one}`)
    expect([await failing('timesheet_buckets'), await failing('money_identities')]).toEqual([1, 1])

    await engine.run(`update star.fact_timesheet set pay_total = pay_total + 1 where ${one}`)
    expect(await failing('timesheet_buckets')).toBe(1)

    const plain = `timesheet_id = (select min(x.timesheet_id) from star.fact_timesheet as x where x.expense_value = 0)`
    await engine.run(`update star.fact_timesheet set charge_total = charge_total + 7 where ${plain}`)
    expect(await failing('timesheet_buckets')).toBe(2)
  })
})
