/** What an incremental scan costs at most, for every alignment of what changed with the pages of the list. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lastPage, pageLimit } from '../../src/api/client/paging.ts'
import { advance, beginPass } from '../../src/sync/paging/pass.ts'

/** Between two scans, of a list of `before` rows. */
interface Change {
  readonly before: number
  readonly updated: number
  readonly inserted: number
  readonly deleted: number
  /** Rows that did not change and are not older than the lookback before the watermark: they are read again. */
  readonly lookedBack: number
}

interface Cost {
  readonly asked: number
  /** Rows inserted or updated. */
  readonly changed: number
  readonly beganWrong: boolean
  readonly rowsOnLastPage: number
}

const stopBefore = Date.UTC(2026, 0, 1)

/** The scan counts pages of 200 rows: totals of smaller pages are stretched to as many pages. */
function cost(change: Change, pageSize: number): Cost {
  const { before, updated, inserted, deleted, lookedBack } = change
  const total = before - deleted + inserted
  const old = total - updated - inserted - lookedBack
  const timeAt = (position: number) => new Date(stopBefore + (position - old) * 1000).toISOString()
  const pagesOf = (rows: number) => lastPage(rows, pageSize)
  let asked = 0
  for (let state = beginPass(pagesOf(before)); state.nextPage > 0; asked += 1) {
    const first = (state.nextPage - 1) * pageSize
    const empty = first >= total
    const ends = empty ? {} : { oldest: timeAt(first), newest: timeAt(Math.min(total, first + pageSize) - 1) }
    const stretched = total === 0 ? 0 : pagesOf(total) * pageLimit
    state = advance(
      state,
      { page: state.nextPage, total: stretched, empty, ...ends },
      { known: { before: stopBefore, reached: Date.parse(timeAt(old + lookedBack - 1)) } },
    )
  }
  return {
    asked,
    changed: updated + inserted,
    beganWrong: pagesOf(before) !== pagesOf(total),
    rowsOnLastPage: total - (pagesOf(total) - 1) * pageSize,
  }
}

function* changesOf(most: number): Generator<Change> {
  for (let before = 0; before <= most; before += 1)
    for (let updated = 0; updated <= before; updated += 1)
      for (let deleted = 0; updated + deleted <= before; deleted += 1)
        for (let lookedBack = 0; updated + deleted + lookedBack <= before; lookedBack += 1)
          for (let inserted = 0; inserted <= most; inserted += 1)
            yield { before, updated, inserted, deleted, lookedBack }
}

/**
 * What holds whatever changed, and the ways in which a request more is spent: rows looked back at, and the second request for
 * the page where a scan of several pages ends.
 */
function prove(change: Change, pageSize: number): void {
  const { asked, changed, beganWrong, rowsOnLastPage } = cost(change, pageSize)
  const { lookedBack, deleted } = change
  const pages = (rows: number) => Math.ceil(rows / pageSize)
  const wrong: string[] = []
  const twice = changed > 0 ? 1 : 0
  if (asked > pages(changed + lookedBack) + 2 + twice) wrong.push('pages of rows read, and two')
  if (lookedBack <= pageSize) {
    const oneMore = beganWrong && rowsOnLastPage <= lookedBack ? 1 : 0
    if (asked > pages(changed) + 2 + oneMore + twice) wrong.push('pages of rows changed, and two')
  }
  if (changed + deleted === 0 && asked > pages(lookedBack) + 1) wrong.push('two when nothing changed')
  if (changed + deleted === 0 && change.before <= pageSize && asked > 1) wrong.push('one on a small list')
  if (wrong.length > 0) expect({ ...change, pageSize, asked, wrong }).toBe('within its bounds')
}

test('every change of a short list with pages of three rows', () => {
  let seen = 0
  for (const change of changesOf(10)) {
    prove(change, 3)
    seen += 1
  }
  expect(seen).toBeGreaterThan(10_000)
})

test('any change of a list with pages of 200 rows', () => {
  const near = (pages: number) =>
    fc
      .tuple(fc.integer({ min: 0, max: pages }), fc.integer({ min: -3, max: 3 }))
      .map(([page, by]) => Math.max(0, page * 200 + by))
  const change = fc
    .record({
      rest: near(6),
      updated: near(3),
      inserted: near(3),
      deleted: near(2),
      lookedBack: fc.oneof(fc.nat(5), near(2)),
    })
    .map(({ rest, ...change }) => ({
      ...change,
      before: rest + change.updated + change.deleted + change.lookedBack,
    }))
  fc.assert(
    fc.property(change, drawn => prove(drawn, pageLimit)),
    { numRuns: 50_000 },
  )
})

test('the worst case: the list grew by a page, and its new last page holds no more than rows looked back at', () => {
  const grown = { before: 201, updated: 0, inserted: 200, deleted: 0, lookedBack: 1 }
  // Page 2 was the last one and tells of page 3; then 3, 2 and 1, which alone holds older rows and ends every scan.
  expect(cost(grown, pageLimit).asked).toBe(Math.ceil(200 / 200) + 3)
  // One change less, or a row more on the last page, and the bound holds.
  expect(cost({ ...grown, inserted: 199 }, pageLimit).asked).toBeLessThanOrEqual(3)
  expect(cost({ ...grown, before: 202 }, pageLimit).asked).toBe(3 + 1)
})

test('a snapshot whose last page is shown for all pages after it costs one request more, and is refused', () => {
  const asked: number[] = []
  let state = beginPass(1)
  while (state.nextPage > 0) {
    const page = state.nextPage
    asked.push(page)
    const answer = { page, total: 2 * pageLimit, empty: false, rows: pageLimit }
    state = advance(state, answer, { order: 'first to last' })
  }
  expect(asked).toEqual([1, 2, 3])
  expect(state.contradiction).toBe('page 3 showed 600 rows of a list of 400')
})
