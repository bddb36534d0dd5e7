/** When a crosscheck calibrates by itself: not on incomplete data, and again when the definition stops explaining. */
import { rmSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import { openPlace, type Place } from '../support/synced-warehouse.ts'

vi.setConfig({ testTimeout: 300_000 })

const service = { quantiles: 'type6', decimals: 2, 'week-start': 'sunday', 'week-key': 'firstDay' } as const

/** What the warehouse holds after a statement of its own. */
async function within<Row extends object>({ file }: Place, sql: string): Promise<readonly Row[]> {
  const engine = await openDuckdb(file)
  try {
    return await engine.rows<Row>(sql)
  } finally {
    await engine.close()
  }
}

const definitionOf = (place: Place) =>
  within(place, 'select distinct definition_id as id from ops.metric_calibration')

/** One line, `try later`, and neither a request for a metric nor a calibration. */
async function expectRefused(place: Place, names: readonly string[]): Promise<void> {
  const before = place.sandbox.requests.length
  const { code, out, err } = await place.command('crosscheck')
  expect([code, out]).toEqual([75, ''])
  expect(err).toMatch(
    /^muster: not calibrated, as records behind the metrics are missing \(.+\): run muster sync until .+\n$/,
  )
  for (const name of names) expect(err).toContain(`${name}: `)
  expect(place.sandbox.requests.slice(before).filter(({ path }) => path.includes('metrics'))).toEqual([])
  expect(await definitionOf(place)).toEqual([])
}

test('a crosscheck does not calibrate until the first sync is read to its end, and does so then', async () => {
  const place = await openPlace({ scale: 0.05, options: service })
  expect((await place.command('sync --quiet --max-requests 6')).code).toBe(75)
  await expectRefused(place, ['timesheets', 'requisitions'])
  expect((await place.command('sync --quiet')).code).toBe(0)
  const first = await place.command('crosscheck')
  expect([first.code, first.err]).toEqual([0, ''])
  expect(first.out).toMatch(/^never calibrated on records of both metrics: /)
  expect(first.out).toMatch(/, 0 unexplained; /)
  expect(await definitionOf(place)).toHaveLength(1)
})

test('a resource behind the metrics that no sync has read is missing, also after a replay and in a copy', async () => {
  const place = await openPlace({ scale: 0.05, options: service })
  expect((await place.command('sync timesheets metric-rows assignments --quiet')).code).toBe(0)
  await expectRefused(place, ['requisitions'])
  expect((await place.command('replay --quiet')).code).toBe(0)
  await expectRefused(place, ['requisitions'])
  expect((await place.command('copy --from duckdb:w.duckdb --to duckdb:copy.duckdb')).code).toBe(0)
  const copy = await place.command('crosscheck', { MUSTER_WAREHOUSE: 'duckdb:copy.duckdb' })
  expect([copy.code, copy.err]).toEqual([75, expect.stringMatching(/\(requisitions: no sync has read it\)/)])
})

test('a warehouse that only a replay has filled is not calibrated on before a sync', async () => {
  const place = await openPlace({ scale: 0.05, options: service })
  expect((await place.command('sync --quiet')).code).toBe(0)
  rmSync(place.file)
  expect((await place.command('replay --quiet')).code).toBe(0)
  await expectRefused(place, ['timesheets', 'requisitions'])
  expect((await place.command('sync --quiet')).code).toBe(0)
  expect((await place.command('crosscheck --group-by all')).code).toBe(0)
})

test('a definition that stops explaining is replaced, and the output says so', async () => {
  const place = await openPlace({ scale: 0.05, options: service })
  expect((await place.command('sync timesheets metric-rows assignments requisitions --quiet')).code).toBe(0)
  expect((await place.command('crosscheck')).code).toBe(0)
  const [good] = await definitionOf(place)
  // As calibrated on records that did not decide these rules.
  await within(
    place,
    `update ops.metric_calibration set definition_id = 'early',
       chosen = case rule when 'days' then 'ceil' when 'timesheetStatuses' then ',approved,pending,' else chosen end`,
  )
  const again = await place.command('crosscheck')
  expect(again.out).toMatch(/^definition early leaves [\d,]+ of [\d,]+ figures unexplained: /m)
  expect(again.out).toMatch(/^calibrated again: definition \w{12} replaces early; muster build /m)
  expect(again.code).toBe(0)
  expect(await definitionOf(place)).toEqual([good])
})

test('a key that sees one company of two calibrates on that company alone', async () => {
  const place = await openPlace({ scale: 0.3, options: service })
  expect((await place.command('sync timesheets metric-rows assignments requisitions --quiet')).code).toBe(0)
  // A minute between: a key of unknown limits waits for the requests of the last one.
  await place.command('status')
  const one = await place.command('crosscheck', { MUSTER_API_KEY: 'sandbox-one-company-key' })
  expect([one.code, one.out]).toEqual([0, expect.stringMatching(/, 0 unexplained; /)])
  const [chosen] = await within<{ chosen: string }>(
    place,
    `select chosen from ops.metric_calibration where rule = 'companies'`,
  )
  expect(chosen?.chosen).toMatch(/^,[^,]+,$/)
})
