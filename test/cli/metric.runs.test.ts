/** `muster metric` and `muster crosscheck`: figures as the service gives them, what differs, and from which file. */
import { copyFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import { useFilled } from '../support/filled-warehouse.ts'
import { thorough } from '../support/long-suite.ts'
import { openPlace, type Place } from '../support/synced-warehouse.ts'
import { holdFile } from './locked-file.ts'

const filled = useFilled()
const options = { quantiles: 'type6', decimals: 2, 'week-start': 'sunday', 'week-key': 'firstDay' } as const
let place: Place

const asked = async (query: string) => {
  const response = await fetch(`${place.sandbox.url}/requisitions/recruitment-metrics?limit=200&${query}`, {
    headers: { authorization: `Bearer ${sandboxKeys.company}` },
  })
  return ((await response.json()) as { data: unknown[] }).data
}
const json = async (line: string) => JSON.parse((await place.command(`${line} --json`)).out)

beforeAll(async () => {
  place = await openPlace({ scale: 0.2, options })
  const warehouse = await filled.duckdb()
  await warehouse.close()
  copyFileSync(warehouse.address.replace('duckdb:', ''), place.file)
  // Loaded by hand so far: no sync has read them.
  await place.command('sync requisitions --quiet')
})

describe('before a calibration', () => {
  test('metric uses the default definition, and says so', async () => {
    const { code, out } = await place.command(
      'metric workersOverHours --group-by company,month --threshold 40',
    )
    expect([code, out.split('\n')[0]]).toEqual([
      0,
      expect.stringMatching(/^company +month +thresholdHours +workerWeeks /),
    ])
    expect(out).toMatch(/\d+ groups, definition default\n$/)
  })

  test('crosscheck calibrates itself first, says so, and agrees in every figure', async () => {
    const { code, out } = await place.command('crosscheck --group-by all --group-by agency')
    expect(out).toMatch(/^never calibrated on records of both metrics: /)
    expect(out).toMatch(/^quantiles +type6 +found/m)
    expect(out).toMatch(/^timeToFill +agency +11 +121 +0 +0 +0$/m)
    expect(code).toBe(0)
    expect((await place.command('status')).out).toMatch(
      /^crosscheck .* ago: [\d,]{3,} figures compared, 0 unexplained$/m,
    )
    const again = await place.command('crosscheck --group-by all')
    expect(again.out).not.toContain('calibrated')
  })

  test('a calibration costs some 25 requests, and a crosscheck 12 or more', async () => {
    const spent = async (line: string): Promise<number> => {
      const before = place.sandbox.requests.length
      expect((await place.command(line)).code).toBe(0)
      return place.sandbox.requests.length - before
    }
    const each = await spent('crosscheck')
    const calibration = (await spent('crosscheck --calibrate')) - each
    expect(each).toBeGreaterThanOrEqual(12)
    expect(each).toBeLessThanOrEqual(20)
    expect(calibration).toBeGreaterThan(10)
    expect(calibration).toBeLessThanOrEqual(30)
  })

  test('a calibration that ran out of requests is not kept', async () => {
    const { out } = await place.command('crosscheck --calibrate --max-requests 5')
    expect(out).toContain('the 5 requests of the crosscheck are used')
    expect((await place.command('crosscheck --group-by all')).out).toMatch(
      /under definition [0-9a-f]{12}, 0 unexplained/,
    )
  })
})

describe('after a calibration', () => {
  test.runIf(thorough)('which may be repeated', async () => {
    const { code, out, err } = await place.command('crosscheck --calibrate')
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/^quantiles +type6 +found/m)
    expect(out).toMatch(/^calibrated with \d+ requests$/m)
    expect(out).toMatch(
      / figures compared under definition [0-9a-f]{12}, 0 unexplained; spent \d+ requests\n$/,
    )
  })

  test.each([
    ['timeToFill --group-by agency', 'metric=timeToFill&groupBy=agency'],
    ['timeToFill --from 2026-03-01 --to 2026-05-31', 'metric=timeToFill&from=2026-03-01&to=2026-05-31'],
    [
      'workersOverHours --group-by week --threshold 45',
      'metric=workersOverHours&groupBy=week&hoursThreshold=45',
    ],
  ])('metric %s is what the service answers', async (line, query) => {
    const theirs = await asked(query)
    expect(theirs.length).toBeGreaterThan(0)
    expect(await json(`metric ${line}`)).toEqual(theirs)
  })

  test('an hour that changed is named, and ends with 3', async () => {
    const engine = await openDuckdb(place.file)
    const [one] = await engine.rows<{ reference: string }>(
      `update star.fact_timesheet set net_hours = net_hours + 1 where timesheet_id =
       (select min(timesheet_id) from star.fact_timesheet where status = 'approved') returning reference`,
    )
    await engine.close()
    const { code, out } = await place.command('crosscheck --group-by all')
    expect(code).toBe(3)
    expect(out).toContain(`workersOverHours: timesheet ${one?.reference}: hours `)
    expect(await json('crosscheck --group-by all')).toMatchObject({
      unexplained: 1,
      findings: [{ kind: 'differs' }],
    })
    const few = await place.command('crosscheck --group-by all --max-requests 3')
    expect([few.code, few.out]).toEqual([3, expect.stringContaining('not all differences were looked into')])
    expect(await json('status')).toMatchObject({ crosscheck: { unexplained: 1 } })
    expect((await place.command('status')).out).toMatch(
      /^crosscheck .*1 unexplained; muster crosscheck names/m,
    )
  })

  test('differences while a list is not read to its end are for later', async () => {
    expect((await place.command('sync timesheets expenses --max-requests 2 --quiet')).code).toBe(75)
    const { code, err } = await place.command('crosscheck --group-by all')
    expect([code, err]).toEqual([75, expect.stringMatching(/timesheets.*not fully read.*\n$/)])
  })

  test('metric reads the published copy, with its definition, while another process holds the file', async () => {
    const before = await json('metric workersOverHours --group-by month')
    expect((await place.command('publish')).code).toBe(0)
    await holdFile(place.file)
    const { code, out, err } = await place.command('metric workersOverHours --group-by month --json')
    expect([code, JSON.parse(out)]).toEqual([0, before])
    expect(err).toMatch(/reading the published copy .*w\.published\.duckdb\n$/)
  })
})

test('with an agency key there is nothing to compare', async () => {
  const agency = await openPlace({ kind: 'agency' })
  expect(await agency.command('sync --quiet')).toMatchObject({ code: 0 })
  expect(await agency.command('crosscheck')).toMatchObject({
    code: 0,
    out: 'nothing to compare: the service gives its metrics to company keys only\n',
  })
})

test.each([
  [
    'metric timeToFil',
    'muster: there is no metric timeToFil: did you mean timeToFill? The other is workersOverHours\n',
  ],
  ['metric timeToFill --group-by worker', 'Give all, or some of company, project, agency, month, week'],
])('%s is wrong usage', async (line, words) => {
  const { code, err } = await place.command(line)
  expect([code, err]).toEqual([2, expect.stringContaining(words)])
})
