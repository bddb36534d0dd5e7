/** Lists that lie about themselves: after each night the warehouse has every record, or the run said what is missing. */
import { expect, test } from 'vitest'
import type { Quirks } from '../../src/sandbox/quirks/quirk-options.ts'
import { plainRecords } from '../sync/plain-records.ts'
import { describeOnEngines } from '../warehouse/fixture.ts'
import { openNights } from './nights.ts'

interface Night {
  readonly code: number
  readonly state: 'done' | 'incomplete' | 'failed'
  readonly stored: number
  /** At most, to the list. */
  readonly requests: number
}

interface Case {
  readonly count: number
  readonly nights: readonly [Night, Night]
  /** What the run says of a list that is not whole. */
  readonly says?: string
}

const whole = (stored: number, requests: number): Night => ({ code: 0, state: 'done', stored, requests })
const lacking = (stored: number, requests: number): Night => ({
  code: 1,
  state: 'incomplete',
  stored,
  requests,
})
const refused: Night = { code: 1, state: 'failed', stored: 0, requests: 6 }

const cases: readonly (readonly [Partial<Quirks>, Case])[] = [
  [{}, { count: 650, nights: [whole(650, 5), whole(650, 1)] }],
  [{ 'short-page': 7 }, { count: 650, nights: [lacking(643, 25), lacking(643, 25)], says: 'saw 643 of 650' }],
  [
    { 'same-page': 'yes' },
    { count: 650, nights: [lacking(200, 25), lacking(200, 25)], says: 'saw 200 of 650' },
  ],
  [{ 'repeat-page': 2 }, { count: 650, nights: [whole(650, 9), whole(650, 1)] }],
  [{ total: 'null' }, { count: 650, nights: [refused, refused], says: 'meta is not whole numbers' }],
  [{ total: 'missing' }, { count: 650, nights: [refused, refused], says: 'meta is not whole numbers' }],
  [{ total: 'text' }, { count: 650, nights: [refused, refused], says: 'meta is not whole numbers' }],
  [{ success: 'false' }, { count: 650, nights: [refused, refused], says: 'success is not true' }],
]

describeOnEngines(
  'a list',
  bench => {
    test.each(cases)('with %j', async (quirks, { count, nights, says = '' }) => {
      const records = plainRecords({ timesheets: count })
      const place = await openNights(bench, { records, quirks: { timesheets: quirks } })
      for (const { code, state, stored, requests } of nights) {
        const ran = await place.nextNight('sync timesheets --json')
        const [found] = JSON.parse(ran.out).resources.filter(ofTimesheets)
        const asked = ran.requests.filter(path => path.startsWith('/timesheets'))
        const [{ n }] = (await place.rows('select count(*) as n from star.fact_timesheet')) as [{ n: number }]
        expect({ code: ran.code, state: found.state, stored: n }).toEqual({ code, state, stored })
        expect(ran.err).toContain(says)
        expect(asked.length).toBeLessThanOrEqual(requests)
      }
    })

    test('that becomes empty is a warning of the check and of status', async () => {
      const place = await openNights(bench, { records: plainRecords({ timesheets: 650 }) })
      expect((await place.nextNight('sync timesheets --quiet')).code).toBe(0)
      place.sandbox.setQuirks({ timesheets: { empty: 'yes' } })
      expect((await place.nextNight('sync timesheets --quiet')).code).toBe(0)
      expect((await place.run('status')).out).toMatch(/timesheets.*\b(empty|no records|0)\b/)
      expect((await place.run('check')).out).toMatch(/empty/)
    })
  },
  'postgres',
)

describeOnEngines(
  'a list',
  bench => {
    test('that was read without proof is named by status, check, mart.data_health and publish', async () => {
      const records = plainRecords({ timesheets: 650 })
      const place = await openNights(bench, { records, quirks: { timesheets: { 'short-page': 7 } } })
      const ran = await place.nextNight('sync timesheets --quiet')
      expect(ran.err).toContain('timesheets (saw 643 of 650)')
      expect((await place.run('status')).out).toMatch(/timesheets.*643 of 650/)
      const check = await place.run('check')
      expect([check.code, check.out]).toEqual([3, expect.stringMatching(/timesheets/)])
      await place.run('build data_health')
      const health = await place.rows(
        `select is_whole, not_whole_reason as why from mart.data_health where resource = 'timesheets'`,
      )
      expect(health).toEqual([{ is_whole: false, why: expect.stringContaining('saw 643 of 650') }])
      // PostgreSQL has no published copy; its marts are read in place.
      const published = await place.run('publish')
      if (bench.name === 'duckdb') expect(published.out).toMatch(/timesheets.*643 of 650/)
      const strict = await place.run('publish --require complete')
      expect(strict.code).not.toBe(0)
      expect(strict.err).toMatch(/timesheets/)
      // Once the service is right again, so is all of it.
      place.sandbox.setQuirks()
      expect((await place.nextNight('sync timesheets --quiet')).code).toBe(0)
      expect((await place.run('status')).out).not.toMatch(/643/)
      expect((await place.run('publish --require complete')).err).not.toMatch(/timesheets/)
    })
  },
  'all',
)

const ofTimesheets = ({ resource }: { resource: string }): boolean => resource === 'timesheets'
