/** Page arithmetic, and pages that a list does not have. */
import { describe, expect, test } from 'vitest'
import { AccessDenied, BadRequest, NotFound, RetriableError } from '../../../src/api/client/errors.ts'
import { isPastEnd, lastPage, pageLimit, pagePastEnd } from '../../../src/api/client/paging.ts'

test.each([
  [0, 200, 1],
  [1, 200, 1],
  [200, 200, 1],
  [201, 200, 2],
  [7, 3, 3],
  [6, 3, 2],
])('%i rows of %i a page end on page %i', (total, limit, last) => {
  expect(lastPage(total, limit)).toBe(last)
})

test('a page has 200 rows unless fewer are asked for', () => {
  expect([pageLimit, lastPage(400), lastPage(401)]).toEqual([200, 2, 3])
})

const facts = { request: 'GET /sites' }

describe('a refused page is past the end', () => {
  test.each([
    ['when the rows end before it', new NotFound(facts), 3, 400, true],
    ['not when one row is on it', new NotFound(facts), 3, 401, false],
    ['as a bad request too', new BadRequest(facts), 3, 400, true],
    ['not when the key may not read it', new AccessDenied(facts), 3, 400, false],
    ['not when the service failed', new RetriableError(facts, { what: 'w', next: 'n' }), 3, 400, false],
    ['never when it is the first', new NotFound(facts), 1, 0, false],
    ['when it is the second of a list of which nothing is known', new NotFound(facts), 2, 0, true],
  ])('%s', (...[, error, page, rows, expected]) => {
    expect(isPastEnd(error, { page, limit: 200 }, rows)).toBe(expected)
  })
})

test.each([
  [0, 1],
  [1, 1],
  [400, 400],
])('a page past the end of %i rows has none, and a total of %i', (rows, total) => {
  expect(JSON.parse(pagePastEnd({ page: 3, limit: 200 }, rows).toString())).toEqual({
    ...{ success: true, data: [] },
    meta: { page: 3, limit: 200, total },
  })
})
