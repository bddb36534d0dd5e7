/** Alerts on measures: on settled data only, with the rows behind them, on both engines. */
import { expect, test } from 'vitest'
import { alertQueries, evaluateAlerts } from '../../../src/app/notify/evaluate-alerts.ts'
import { alertsOf } from '../../../src/config/alerts.ts'
import { usualRangeOf } from '../../../src/lib/usual-range.ts'
import { readMarts } from '../../../src/marts/mart.ts'
import { firedAlerts, openAlerts } from '../../../src/state/notifications/alerts.ts'
import type { Engine } from '../../../src/warehouse/engine.ts'
import { describeOnEngines } from '../../support/warehouse-fixture.ts'

const marts = readMarts()
const at = (day: number): string => `2026-11-${String(day).padStart(2, '0')}T03:00:00.000Z`

const settings = {
  over: { measure: 'worker_week.records', filter: 'is_over_threshold', condition: '> 1' },
  unbilled: { measure: 'unbilled_accrual.accrued_value', filter: 'age_days > 14', condition: '> 50000' },
  moves: { measure: 'working_time_weekly.net_hours', condition: 'outside its usual range' },
}

async function makeMarts(engine: Engine) {
  await engine.run(
    'create table mart.worker_week (worker_id text, week_ending_date date, is_settled_week boolean, is_over_threshold boolean)',
  )
  await engine.run(
    `insert into mart.worker_week values ('a', date '2026-10-25', true, true), ('b', date '2026-10-25', true, true),
       ('c', date '2026-10-25', true, false), ('a', date '2026-11-01', false, true), ('d', date '2026-10-18', true, true)`,
  )
  await engine.run(
    'create table mart.unbilled_accrual (record_id text, currency text, age_days integer, is_settled_week boolean, accrued_value numeric(18, 4))',
  )
  await engine.run(
    `insert into mart.unbilled_accrual values ('1', 'GBP', 20, true, 60000), ('2', 'EUR', 20, true, 40000), ('3', 'EUR', 10, true, 90000)`,
  )
  await engine.run(
    'create table mart.working_time_weekly (week_ending_date date, is_settled_week boolean, net_hours numeric(18, 4))',
  )
  for (let week = 0; week < 14; week += 1)
    await engine.run(
      `insert into mart.working_time_weekly values (date '2026-07-26' + ${7 * week}, true, ${week === 13 ? 300 : 1000 + 10 * week})`,
    )
}

describeOnEngines(
  'alerts',
  bench => {
    test('an alert fires on the last settled week, one for each currency, and outside the range of 13 weeks', async () => {
      const { engine } = await bench.warehouse()
      await makeMarts(engine)
      const found = await evaluateAlerts(engine, alertQueries(alertsOf(settings), marts), at(2))
      expect(found?.map(one => [one.alert, one.group_key, one.state, one.period, one.value])).toEqual([
        ['over', '', 'fires', '2026-10-25', 2],
        ['unbilled', 'EUR', 'quiet', null, 40_000],
        ['unbilled', 'GBP', 'fires', null, 60_000],
        ['moves', '', 'fires', '2026-10-25', 300],
      ])
      for (const one of found ?? []) {
        const rows = await engine.rows(one.query ?? '')
        expect([one.alert, one.group_key, rows.length]).toEqual([
          one.alert,
          one.group_key,
          one.alert === 'over' ? 2 : 1,
        ])
      }
    })

    test('an alert that goes on firing keeps its row, ends when it is quiet, and fires again in a new week', async () => {
      const { engine } = await bench.warehouse()
      await makeMarts(engine)
      const queries = alertQueries(alertsOf({ over: settings.over }), marts)
      const evaluate = (day: number) => evaluateAlerts(engine, queries, at(day))
      await evaluate(2)
      await evaluate(3)
      expect(await openAlerts(engine)).toMatchObject([{ began_at: at(2), checked_at: at(3), state: 'fires' }])
      await engine.run(`update mart.worker_week set is_settled_week = true`)
      await evaluate(4)
      expect(await openAlerts(engine)).toMatchObject([
        { began_at: at(4), state: 'quiet', period: '2026-11-01' },
      ])
      await engine.run(
        `insert into mart.worker_week values ('e', date '2026-11-08', true, true), ('f', date '2026-11-08', true, true)`,
      )
      await evaluate(9)
      expect(await firedAlerts(engine, 9)).toMatchObject([
        { began_at: at(9), ended_at: null, period: '2026-11-08' },
        { began_at: at(2), ended_at: at(4), period: '2026-10-25' },
      ])
      await evaluateAlerts(engine, [], at(10))
      expect(await openAlerts(engine)).toEqual([])
    })

    test('an alert without its mart, or with fewer than 13 weeks before it, is unknown and says why', async () => {
      const { engine } = await bench.warehouse()
      const query = (name: keyof typeof settings) => alertQueries(alertsOf({ [name]: settings[name] }), marts)
      expect(await evaluateAlerts(engine, query('over'), at(2))).toMatchObject([
        { state: 'unknown', note: 'mart.worker_week is not built' },
      ])
      await makeMarts(engine)
      await engine.run(`delete from mart.working_time_weekly where week_ending_date = date '2026-07-26'`)
      expect(await evaluateAlerts(engine, query('moves'), at(3))).toMatchObject([
        { state: 'unknown', note: 'only 12 settled periods before it, of 13' },
      ])
    })
  },
  'all',
)

test.each([
  [
    { measure: 'worker_weak.records', condition: '> 1' },
    /there is no mart worker_weak.*did you mean worker_week/,
  ],
  [{ measure: 'worker_week.recods', condition: '> 1' }, /has no measure recods.*did you mean records/],
  [
    { measure: 'worker_week.records', filter: 'is_over_treshold', condition: '> 1' },
    /no column is_over_treshold.*did you mean is_over_threshold/,
  ],
  [
    { measure: 'worker_week.records', filter: 'net_hours > many', condition: '> 1' },
    /net_hours is numeric\(18,4\), which is never many/,
  ],
  [
    { measure: 'unbilled_accrual.accrued_value', condition: 'outside its usual range' },
    /unbilled_accrual is not counted by week or month/,
  ],
])('an alert %j is refused with a suggestion', (alert, expected) => {
  expect(() => alertQueries(alertsOf({ one: alert }), marts)).toThrow(expected)
})

test('the usual range is the median ± 3 scaled deviations, and at least ± 10%', () => {
  expect(usualRangeOf([100, 100, 100])).toEqual({ low: 90, high: 110 })
  const { low, high } = usualRangeOf([80, 90, 100, 110, 120])
  expect([Math.round(low), Math.round(high)]).toEqual([56, 144])
})
