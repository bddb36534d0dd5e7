/** Lists that break the contract: after each run the warehouse has every record, or the run reported what is missing. */
import { expect, test } from 'vitest'
import type { Quirks } from '../fault-layer/quirk-settings.ts'
import { openDailyRuns } from '../support/daily-runs.ts'
import { inQuick, thorough } from '../support/long-suite.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'
import { plainRecords } from '../sync/plain-records.ts'

interface ExpectedRun {
  readonly code: number
  readonly state: 'done' | 'incomplete' | 'failed'
  readonly stored: number
  /** At most, to the list. */
  readonly requests: number
}

interface Case {
  readonly count: number
  readonly runs: readonly [ExpectedRun, ExpectedRun]
  /** What the run reports of an incomplete list. */
  readonly says?: string
}

const complete = (stored: number, requests: number): ExpectedRun => ({
  code: 0,
  state: 'done',
  stored,
  requests,
})
const incomplete = (stored: number, requests: number): ExpectedRun => ({
  code: 1,
  state: 'incomplete',
  stored,
  requests,
})
const refused: ExpectedRun = { code: 1, state: 'failed', stored: 0, requests: 6 }

const cases: readonly (readonly [Partial<Quirks>, Case])[] = [
  [{}, { count: 650, runs: [complete(650, 5), complete(650, 1)] }],
  // The size of the list, ten pages, one that shows how many rows a page has, and that one again with so many asked for.
  [{ 'page-cap': 50 }, { count: 500, runs: [complete(500, 15), complete(500, 5)] }],
  [{ 'page-cap': 199 }, { count: 650, runs: [complete(650, 20), complete(650, 6)] }],
  [{ 'page-cap': 1 }, { count: 12, runs: [complete(12, 18), complete(12, 17)] }],
  [{ 'limit-cap': 50 }, { count: 500, runs: [complete(500, 14), complete(500, 5)] }],
  [
    { 'same-page': 'yes' },
    {
      count: 650,
      runs: [incomplete(200, 4), incomplete(200, 4)],
      says: 'page 4 showed 800 rows of a list of 650',
    },
  ],
  [{ 'repeat-page': 2 }, { count: 650, runs: [complete(650, 10), complete(650, 1)] }],
  [
    { 'total-cap': 300 },
    {
      count: 650,
      runs: [incomplete(200, 4), incomplete(200, 4)],
      says: 'page 2 showed 400 rows of a list of 300',
    },
  ],
  [
    { 'total-cap': 0 },
    {
      count: 650,
      runs: [incomplete(200, 4), incomplete(200, 4)],
      says: 'page 1 showed 200 rows of a list of 0',
    },
  ],
  [
    { 'total-cap': 200 },
    {
      count: 600,
      runs: [incomplete(400, 5), incomplete(400, 5)],
      says: 'page 2 showed 400 rows of a list of 200',
    },
  ],
  [
    { 'total-cap': 649 },
    {
      count: 650,
      runs: [incomplete(50, 4), incomplete(50, 4)],
      says: 'page 4 showed 650 rows of a list of 649',
    },
  ],
  [
    { total: 'null' },
    { count: 650, runs: [refused, refused], says: 'page, limit and total are not all whole numbers' },
  ],
  [
    { total: 'missing' },
    { count: 650, runs: [refused, refused], says: 'page, limit and total are not all whole numbers' },
  ],
  [
    { total: 'text' },
    { count: 650, runs: [refused, refused], says: 'page, limit and total are not all whole numbers' },
  ],
  [{ success: 'false' }, { count: 650, runs: [refused, refused], says: 'does not come from the service' }],
]

const torn: readonly (readonly [Partial<Quirks>, number])[] = [
  [{ 'cut-pages': 50 }, 500],
  [{ 'short-page': 7 }, 650],
  [{ 'short-page': 120 }, 650],
  [{ total: 'shrinking' }, 650],
  [{ 'total-cap': 300, 'short-page': 7 }, 650],
  [{ 'total-cap': 10, 'short-page': 120 }, 650],
  [{ 'total-cap': 300, 'cut-pages': 150 }, 650],
  [{ 'total-cap': 0, 'cut-pages': 199 }, 650],
  [{ 'total-cap': 30, 'cut-pages': 50 }, 500],
  [{ 'total-cap': 120, 'cut-pages': 40, 'page-cap': 60 }, 500],
  [{ 'total-cap': 300, 'short-page': 7, 'page-cap': 50 }, 650],
]

/** Of the list at the first run and at the second. */
const turns: readonly (readonly [Partial<Quirks>, Partial<Quirks>])[] = [
  [{}, { 'page-cap': 50 }],
  [{ 'page-cap': 50 }, {}],
  [{ 'page-cap': 50 }, { 'page-cap': 30 }],
]

describeOnEngines(
  'a list',
  bench => {
    test.each(inQuick(cases, 1, 5, 9, 14))('with %j', async (quirks, { count, runs, says = '' }) => {
      const records = plainRecords({ timesheets: count })
      const place = await openDailyRuns(bench, { records, quirks: { timesheets: quirks } })
      for (const { code, state, stored, requests } of runs) {
        const ran = await place.nextDay('sync timesheets --json')
        const [found] = JSON.parse(ran.out).resources.filter(ofTimesheets)
        const asked = ran.requests.filter(path => path.startsWith('/timesheets'))
        const [{ n }] = (await place.rows('select count(*) as n from star.fact_timesheet')) as [{ n: number }]
        expect({ code: ran.code, state: found.state, stored: n }).toEqual({ code, state, stored })
        expect(ran.err).toContain(says)
        expect(asked.length).toBeLessThanOrEqual(requests)
      }
    })

    // Pages of another size reach what pages of the default size do not.
    test.each(inQuick(torn, 1, 7))('with %j of %i is complete, or incomplete', async (quirks, count) => {
      const records = plainRecords({ timesheets: count })
      const place = await openDailyRuns(bench, { records, quirks: { timesheets: quirks } })
      const ran = await place.nextDay('sync timesheets --quiet')
      const [{ n }] = (await place.rows('select count(*) as n from star.fact_timesheet')) as [{ n: number }]
      if (ran.code === 0) expect(n).toBe(count)
      else expect([ran.code, ran.err]).toEqual([1, expect.stringContaining(`timesheets (saw ${n} of `)])
      place.sandbox.setQuirks()
      expect((await place.nextDay('sync timesheets --quiet')).code).toBe(0)
      expect(await place.rows('select count(*) as n from star.fact_timesheet')).toEqual([{ n: count }])
    })

    test.each(inQuick(['404', '400', 'last'] as const, 0, 1, 2))(
      'whose total and pages are capped alike, with %s after them, is never complete',
      async how => {
        const records = plainRecords({ timesheets: 650 })
        const quirks = { timesheets: { 'total-cap': 400, 'past-end': how } }
        const place = await openDailyRuns(bench, { records, quirks })
        for (let run = 0; run < 2; run += 1) {
          expect((await place.nextDay('sync timesheets --quiet')).code).toBe(1)
        }
      },
    )

    test.each(inQuick(turns, 0, 4))('that changes from %j to %j loses no change', async (first, second) => {
      const records = plainRecords({ timesheets: 650 })
      const place = await openDailyRuns(bench, { records, quirks: { timesheets: first } })
      expect((await place.nextDay('sync timesheets --quiet')).code).toBe(0)
      place.sandbox.setQuirks({ timesheets: { ...second, 'bulk-update': 230 } })
      expect((await place.nextDay('sync timesheets --quiet')).code).toBe(0)
      const [{ n }] = (await place.rows(
        `select count(*) as n from star.fact_timesheet where updated_at > timestamp '2026-01-01'`,
      )) as [{ n: number }]
      expect(n).toBe(230)
    })

    test.each(inQuick(['404', '400', 'null'] as const, 0, 1))(
      'whose pages after the last one are answered with %s is read as any other, while it changes, grows and shrinks',
      async how => {
        const records = plainRecords({ timesheets: 410 })
        const place = await openDailyRuns(bench, { records, quirks: { timesheets: { 'past-end': how } } })
        const stored = async () => {
          const [{ n }] = (await place.rows(
            'select count(*) as n from star.fact_timesheet where not is_deleted',
          )) as [{ n: number }]
          return n
        }
        expect((await place.nextDay('sync timesheets --quiet')).code).toBe(0)
        place.sandbox.setQuirks({ timesheets: { 'past-end': how, 'bulk-update': 230 } })
        expect((await place.nextDay('sync timesheets --quiet')).code).toBe(0)
        expect(await stored()).toBe(410)
        const { world } = place.sandbox
        for (const { id } of world.all('timesheets').slice(0, 220)) world.remove('timesheets', String(id))
        const shrunk = await place.nextDay('sync timesheets --quiet')
        expect([shrunk.code, shrunk.err]).toEqual([0, ''])
        for (let run = 0; run < 2; run += 1) {
          await place.nextDay('sweep timesheets --max-deletions 220 --quiet')
        }
        expect((await place.nextDay('sync timesheets --quiet')).code).toBe(0)
        expect(await stored()).toBe(190)
      },
    )

    test('of which pages grow is asked for as many rows again once a sweep has seen it', async () => {
      const records = plainRecords({ timesheets: 120 })
      const place = await openDailyRuns(bench, { records, quirks: { timesheets: { 'page-cap': 50 } } })
      const learnt = () => place.rows('select page_size from ops.watermark')
      expect((await place.nextDay('sync timesheets --quiet')).code).toBe(0)
      expect(await learnt()).toEqual([{ page_size: 50 }])
      expect((await place.nextDay('sweep timesheets --quiet')).code).toBe(0)
      expect(await learnt()).toEqual([{ page_size: 50 }])
      place.sandbox.setQuirks()
      expect((await place.nextDay('sweep timesheets --quiet')).code).toBe(0)
      expect(await learnt()).toEqual([{ page_size: null }])
      expect((await place.nextDay('sync timesheets --quiet')).code).toBe(0)
    })

    test('of which one page once has the rows of the page before loses no change', async () => {
      const place = await openDailyRuns(bench, { records: plainRecords({ invoices: 650 }) })
      expect((await place.nextDay('sync invoices --quiet')).code).toBe(0)
      for (const [index, record] of place.sandbox.world.all('invoices').slice(0, 300).entries()) {
        const updatedAt = new Date(place.now() + index * 1000).toISOString()
        place.sandbox.world.upsert('invoices', { ...record, updatedAt })
      }
      // Page 3 shows where the changes end, on page 2: the 200 changes of page 3 itself are not seen.
      place.sandbox.setQuirks({ invoices: { 'repeat-page': 3 } })
      expect((await place.nextDay('sync invoices --quiet')).code).toBe(0)
      const [{ n }] = (await place.rows(
        `select count(*) as n from star.fact_invoice where updated_at > timestamp '2026-01-01'`,
      )) as [{ n: number }]
      expect(n).toBe(300)
    })

    test('that hides rows after paging is read at the cost of any other once that is known', async () => {
      const records = plainRecords({ timesheets: 650 })
      const place = await openDailyRuns(bench, { records, quirks: { timesheets: { hidden: 48 } } })
      const learning = await place.nextDay('sync timesheets --quiet')
      expect(learning.out + learning.err).toMatch(/602 of 650|48/)
      for (let run = 0; run < 2; run += 1) {
        const later = await place.nextDay('sync timesheets --quiet')
        expect(later.code).toBe(0)
        expect(later.requests.filter(path => path.startsWith('/timesheets')).length).toBeLessThanOrEqual(5)
      }
      expect((await place.run('status')).out).toMatch(
        /^timesheets: its total counted 48 rows that no page showed$/m,
      )
      // A record that changes is read all the same.
      const shown = place.sandbox.world.all('timesheets').slice(0, 60)
      for (const record of shown) {
        const updatedAt = new Date(place.now()).toISOString()
        place.sandbox.world.upsert('timesheets', { ...record, updatedAt })
      }
      const changed = await place.nextDay('sync timesheets --json')
      const [{ n }] = (await place.rows(
        `select count(*) as n from star.fact_timesheet where updated_at > timestamp '2026-01-01'`,
      )) as [{ n: number }]
      expect([changed.code, n > 40]).toEqual([0, true])
      // Shown at last, they are older than the watermark: a sweep sees them, and the next sync reads them.
      place.sandbox.setQuirks()
      await place.nextDay('sync timesheets --quiet')
      await place.nextDay('sweep timesheets --quiet')
      expect((await place.run('sync timesheets --quiet')).code).toBe(0)
      expect(await place.rows('select count(*) as n from star.fact_timesheet')).toEqual([{ n: 650 }])
    })

    test.runIf(thorough)('that becomes empty is a warning of the check and of status', async () => {
      const place = await openDailyRuns(bench, { records: plainRecords({ timesheets: 650 }) })
      expect((await place.nextDay('sync timesheets --quiet')).code).toBe(0)
      place.sandbox.setQuirks({ timesheets: { empty: 'yes' } })
      expect((await place.nextDay('sync timesheets --quiet')).code).toBe(0)
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
      const place = await openDailyRuns(bench, { records, quirks: { timesheets: { 'same-page': 'yes' } } })
      const ran = await place.nextDay('sync timesheets --quiet')
      expect(ran.err).toContain('timesheets (saw 200 of ')
      expect((await place.run('status')).out).toMatch(/timesheets.*200 of /)
      const check = await place.run('check')
      expect([check.code, check.out]).toEqual([3, expect.stringMatching(/timesheets/)])
      await place.run('build data_health')
      const health = await place.rows(
        `select is_complete, incomplete_reason as why from mart.data_health where resource = 'timesheets'`,
      )
      expect(health).toEqual([{ is_complete: false, why: expect.stringContaining('saw 200 of ') }])
      // PostgreSQL has no published copy; its marts are read in place.
      const published = await place.run('publish')
      if (bench.name === 'duckdb') expect(published.out).toMatch(/timesheets.*200 of /)
      const strict = await place.run('publish --require complete')
      expect(strict.code).not.toBe(0)
      expect(strict.err).toMatch(/timesheets/)
      // Once the service works again, the list is complete.
      place.sandbox.setQuirks()
      expect((await place.nextDay('sync timesheets --quiet')).code).toBe(0)
      expect((await place.run('status')).out).not.toMatch(/saw 200/)
      expect((await place.run('publish --require complete')).err).not.toMatch(/timesheets/)
    })
  },
  'duckdb',
)

const ofTimesheets = ({ resource }: { resource: string }): boolean => resource === 'timesheets'
