/** What doctor says of alerts, which is nothing where the settings have none. */
import { expect, test } from 'vitest'
import { alertFindings } from '../../src/app/checkup/alerts.ts'
import { alertsOf } from '../../src/config/alerts.ts'
import { useEngines } from '../support/warehouse-fixture.ts'

const made = useEngines()
const alerts = alertsOf({
  long_weeks: { measure: 'worker_week.records', condition: '> 10' },
  unbilled: { measure: 'unbilled_accrual.accrued_value', condition: '> 50000' },
})

test('doctor says nothing without alerts, and names a measure that does not exist', async () => {
  expect(await alertFindings([], undefined)).toEqual([])
  const wrong = alertsOf({ long_weeks: { measure: 'worker_weak.records', condition: '> 10' } })
  expect(await alertFindings(wrong, undefined)).toEqual([
    expect.objectContaining({
      check: 'alerts',
      state: 'fail',
      found: 'alerts.long_weeks.measure: there is no mart worker_weak',
      advice: 'did you mean worker_week?',
      isConfiguration: true,
    }),
  ])
})

test('doctor names the marts of alerts that are not built, and is content when all are', async () => {
  const { engine } = await made.duckdb()
  const states = async () =>
    (await alertFindings(alerts, engine)).map(({ state, found }) => `${state} ${found}`)
  expect(await alertFindings(alerts, undefined)).toEqual([
    { check: 'alerts', state: 'ok', found: 'long_weeks, unbilled' },
  ])
  expect(await states()).toEqual(['warn not built: worker_week, unbilled_accrual'])
  await engine.run('create table mart.worker_week (worker_id text)')
  expect(await states()).toEqual(['warn not built: unbilled_accrual'])
  await engine.run('create table mart.unbilled_accrual (record_id text)')
  expect(await states()).toEqual(['ok long_weeks, unbilled'])
})
