/** A scan that is accepted has overlooked nothing, whatever the list does meanwhile; planted mistakes lose records. */
import { describe, expect, test } from 'vitest'
import { advance, beginPass } from '../../src/sync/paging/pass.ts'
import { knownBelow } from '../../src/sync/scan/collection.ts'
import { historyOf, type Keeping, lost, missingAfterwards, run } from './modelled-histories.ts'
import type { Mistakes } from './modelled-scan.ts'
import { proveHistories, proveKeeping } from './proved-histories.ts'

/** Of each kind; a million in the long suite. */
const histories = 2_000

describe('a scan of a list that changes, in any order of equal keys', () => {
  test('overlooks nothing when it is accepted, and is hardly ever refused', async () => {
    const { accepted, refused } = await proveHistories(1, histories)
    expect(accepted).toBeGreaterThan(0.9 * histories)
    expect(refused).toBeLessThan(0.05 * histories)
  })

  test('remembers that a total is too low when its pages turn out to be smaller', async () => {
    const weather = {
      ...{ rows: 9, pageSize: 3, maxTotal: 3, hides: 3, shuffle: 1, tie: 1 },
      ...{
        change: 0.3896877669263631,
        insert: 0.38050202664453536,
        remove: 0,
        late: 0,
        bulk: 0.03385316224303096,
      },
    }
    const ran = await run({ seed: 20_038_120, kind: 'snapshot', part: 'none', weather })
    expect(lost(ran)).toEqual([])
  })

  /** Three passes showed each of the other records of 481,666 once, by chance. */
  test.each([
    ['take a record for hidden that ties with a hidden one', 481_666],
    ['believe what it took for the list before it knew how small the pages are', 189_543],
    ['believe it where the total is too low as well', 283_340],
    ['believe a total that a later pass contradicted', 572_233],
    ['take pages for smaller ones that then lack rows as well', 959_725],
    ['take two pages that begin with the same of tied records for the last one, shown again', 1_284_493],
    ['do so where the second page has fewer of them', 1_764_497],
    ['take a record for hidden of which no page of another size could tell', 1_997_407],
  ])('does not %s', async (_, seed) => {
    expect(lost(await run(historyOf(seed, { hasLies: true })))).toEqual([])
  })

  test('overlooks nothing when it is accepted, although the service is wrong about totals and pages', async () => {
    const { accepted } = await proveHistories(1, histories, { hasLies: true })
    expect(accepted).toBeGreaterThan(0.45 * histories)
  })

  /**
   * Pages of another size and pages that were short by chance: each asked for the other for ever. So did the last page where it is
   * shown for every page after it, with other rows each time.
   */
  test.each([
    [732_685, false],
    [27_712, true],
    [101_178, true],
  ])('ends, whatever sizes of pages it finds: history %d', async (seed, hasLies) => {
    expect((await run(historyOf(seed, { hasLies }))).requests).toBeLessThan(500)
  })

  test('does not take a record for hidden that changed places with a hidden one in one pass', async () => {
    expect(lost(await run(historyOf(48_257, { hasLies: true })))).toEqual([])
  })

  test('is accepted in one pass at rest, unless records tie across pages', async () => {
    for (let seed = 1; seed <= 500; seed += 1) {
      const history = historyOf(seed)
      const weather = { ...history.weather, change: 0, shuffle: 0, tie: 0 }
      const { decision, requests, list, job } = await run({ ...history, kind: 'loaded', weather })
      const pages = Math.max(1, Math.ceil(list.rows.length / weather.pageSize))
      // One request finds the last page, one more shows that a full page is the last one.
      const most = pages + (job.beginAt === undefined ? 1 : 2)
      expect({ seed, decision, isCheap: requests <= most }).toEqual({
        seed,
        decision: 'accepted',
        isCheap: true,
      })
    }
  })

  test.each<[string, Mistakes, boolean]>([
    ['every id counts that any pass saw', { anyId: true }, false],
    [
      'a scan of changes is not counted, nor is the page where it ends asked for twice',
      { uncountedPart: true },
      false,
    ],
    ['a record counts that was last seen before the moment', { seenEarlier: true }, false],
    ['records that are committed late are not thought of', { noLookback: true }, false],
    ['rows beyond the total are not noticed', { believesTotal: true }, true],
    ['a service is believed that contradicts itself', { ignoresContradictions: true }, true],
    ['rows that pages lack count as hidden', { believesHidden: true }, true],
  ])('loses records where %s', async (_, mistakes, hasLies) => {
    let found: number | undefined
    for (let seed = 1; seed <= 20_000 && found === undefined; seed += 1)
      if (lost(await run(historyOf(seed, { hasLies }), mistakes)).length > 0) found = seed
    expect(found).toBeDefined()
  })
})

describe('a scan of changes among many records with few times', () => {
  const weather = {
    rows: 30,
    pageSize: 3,
    change: 0.2,
    insert: 0,
    remove: 0,
    late: 0,
    bulk: 0.1,
    shuffle: 1,
    tie: 0.7,
  }

  test.each<[string, 'changes' | 'filtered', Mistakes]>([
    ['the rows below its end are those of its first pass', 'changes', { firstBelow: true }],
    ['records of a filtered list count by their createdAt', 'filtered', { createdInFilter: true }],
  ])('loses records where %s', async (_, part, mistakes) => {
    const losing = async (planted: Mistakes): Promise<number | undefined> => {
      for (let seed = 1; seed <= 1_000; seed += 1)
        if (lost(await run({ seed, kind: 'loaded', part, weather }, planted)).length > 0) return seed
      return undefined
    }
    expect(await losing({})).toBeUndefined()
    expect(await losing(mistakes)).toBeDefined()
  })
})

describe('scans one after the other', () => {
  test('keep a copy that has every version of every record once the list is at rest', async () => {
    expect(await proveKeeping(1, 4_000)).toBe(4_000)
  })

  test.each<[string, Keeping]>([
    ['the watermark is the greatest time at the end', { endWatermark: true }],
    ['a record at the watermark itself counts as read', { strict: true }],
    ['late records are not looked for', { noLateScan: true }],
  ])('lose records where %s', async (_, keeping) => {
    let found: number | undefined
    for (let seed = 1; seed <= 10_000 && found === undefined; seed += 1)
      if ((await missingAfterwards(seed, keeping)).length > 0) found = seed
    expect(found).toBeDefined()
  })
})

describe('a scan that ends at the watermark when nothing can come below it any more', () => {
  const watermark = '2026-03-01T09:00:00.000Z'
  const minutes = (count: number) => new Date(Date.parse(watermark) + count * 60_000).toISOString()
  const known = (seen: string | undefined, begun: string | undefined, lookback = 15) =>
    knownBelow({ watermark, seen, begun, lookbackMs: lookback * 60_000 })

  test('is the second one after twice the lookback, by our clock alone', () => {
    const back = { before: Date.parse(watermark) - 15 * 60_000, reached: Date.parse(watermark) }
    const settled = { before: Date.parse(watermark) + 1, reached: Date.parse(watermark) }
    expect(known(undefined, minutes(60))).toEqual(back)
    for (const seen of [-600, 1, 600].map(minutes)) {
      const afterwards = (count: number) => new Date(Date.parse(seen) + count * 60_000).toISOString()
      expect([undefined, afterwards(-5), afterwards(30)].map(begun => known(seen, begun))).toEqual([
        back,
        back,
        back,
      ])
      expect(known(seen, afterwards(31))).toEqual(settled)
      expect([known(seen, seen, 0), known(seen, afterwards(1), 0)]).toEqual([
        { before: Date.parse(watermark), reached: Date.parse(watermark) },
        settled,
      ])
    }
  })
})

describe('an incremental scan', () => {
  const watermark = Date.UTC(2026, 0, 1)

  /** `old` rows before the watermark, then those at or after it; rows stand a minute apart. */
  function requests({ old, read, beginAt }: { old: number; read: number; beginAt: number }): number {
    const total = old + read
    const timeAt = (position: number) => new Date(watermark + (position - old) * 60_000).toISOString()
    let asked = 0
    for (let state = beginPass(beginAt); state.nextPage > 0; asked += 1) {
      const first = (state.nextPage - 1) * 200
      const last = Math.min(total, first + 200) - 1
      const empty = first >= total
      const ends = empty ? {} : { oldest: timeAt(first), newest: timeAt(last), rows: last - first + 1 }
      state = advance(
        state,
        { page: state.nextPage, total, empty, ...ends },
        { known: { before: watermark } },
      )
    }
    return asked
  }

  test('costs at most two requests beyond the pages it has to read, and one for the last again, for every alignment', () => {
    const step = (rows: number) => (rows % 200 > 2 && rows % 200 < 197 ? 7 : 1)
    for (let old = 0; old <= 401; old += step(old)) {
      for (let read = 1; read <= 605; read += step(read)) {
        // A full last page may not be the last one: one more request tells.
        const most = Math.ceil(read / 200) + 2 + 1 + ((old + read) % 200 === 0 ? 1 : 0)
        const remembered = Math.max(1, Math.ceil(old / 200))
        for (const beginAt of [1, remembered, Math.ceil((old + read) / 200), 9])
          if (requests({ old, read, beginAt }) > most)
            expect({ old, read, beginAt, most }).toBe('within the bound')
      }
    }
  })

  test('costs one request when nothing changed and the list fits a page', () => {
    for (let old = 0; old <= 198; old += 1) expect(requests({ old, read: 1, beginAt: 1 })).toBe(1)
  })

  test('is not ended by an old row among rows that are out of order', () => {
    const answer = {
      page: 2,
      total: 400,
      empty: false,
      oldest: '2020-01-01T00:00:00Z',
      newest: '2026-01-01T00:00:00Z',
    }
    expect(
      advance(beginPass(2), { ...answer, inOrder: false }, { known: { before: watermark } }).nextPage,
    ).toBe(1)
    expect(advance(beginPass(2), answer, { known: { before: watermark } }).nextPage).toBe(0)
  })

  test('does not begin with the rows of the page that reported the length of the list', () => {
    const known = { before: watermark, reached: watermark }
    const rows = { oldest: '2020-01-01T00:00:00Z', newest: '2030-01-01T00:00:00Z', inOrder: true, old: 1 }
    const guessed = { page: 1, total: 202, empty: false, rows: 199, ...rows }
    const asked = advance(beginPass(1), guessed, { known })
    expect(asked.nextPage).toBe(2)
    const right = advance(asked, { ...guessed, page: 2, rows: 2, old: 0 }, { known })
    expect(right).toMatchObject({ pages: 1, start: { front: 2 } })
  })
})
