/** Which page of a sweep is believed: one whose rows and total agree, or that says the same twice. */
import { describe, expect, test } from 'vitest'
import { agrees, askAgreeing, type RawPage, sweptRows } from '../../../src/sync/deletions/swept-page.ts'

describe('a page agrees with its total', () => {
  test.each([
    ['a full page', 1, 400, 200, true],
    ['a page with a row too few', 1, 400, 199, false],
    ['a page with a row too many', 1, 400, 201, false],
    ['a last page', 3, 401, 1, true],
    ['a last page that is empty', 3, 401, 0, false],
    ['an empty page beyond the end', 4, 401, 0, true],
    ['a row beyond the end', 4, 401, 1, false],
  ])('%s: page %i of %i records with %i rows: %s', (...[, page, total, rows, expected]) =>
    expect(agrees({ page, total, size: 200 }, rows)).toBe(expected),
  )
})

describe('a time of a record', () => {
  test.each([
    ['2026-01-05T00:00:00Z', true],
    ['2026-01-05T00:00', true],
    ['2026-01-05', false],
    ['2026-13-05T00:00:00Z', false],
    [' 2026-01-05T00:00:00Z', false],
    [1_767_571_200_000, false],
    ['2026-13-01T09:00:00Z', false],
    [null, false],
  ])('counts when it is an ISO 8601 instant: %s, %s', (time, isKept) => {
    const [row] = sweptRows([{ id: 'a', createdAt: time, updatedAt: time }]) ?? []
    expect(row).toEqual({ id: 'a', createdAt: isKept ? time : null, updatedAt: isKept ? time : null })
  })
})

describe('a page is asked for', () => {
  const asked = { where: 'GET /list', page: 1, size: 3, now: Date.parse('2026-03-01T00:00:00Z') }
  const raw = (rows: number, total: number): RawPage => ({
    ...{ total, limit: 3 },
    records: Array.from({ length: rows }, (_, n) => ({ id: `${n}` })),
  })
  const withoutId: RawPage = { total: 1, limit: 3, records: [{}] }
  const ask = async (...answers: readonly RawPage[]) => {
    let requests = 0
    const page = await askAgreeing(asked, async () => {
      requests += 1
      return answers[requests - 1] as RawPage
    }).catch((error: Error) => error.message)
    return { page, requests }
  }

  test.each([
    ['once when it agrees', [raw(3, 9)], 1, 3],
    ['again when it does not', [raw(2, 9), raw(3, 9)], 2, 3],
    ['again, until two answers in a row show as many rows', [raw(2, 9), raw(2, 9)], 2, 2],
    ['three times at most, and taken as the service shows it', [raw(2, 9), raw(1, 9), raw(2, 9)], 3, 2],
    ['again when a record has no id', [withoutId, raw(3, 9)], 2, 3],
    ['again after one without ids, as often as any', [withoutId, raw(2, 9), raw(1, 9)], 3, 1],
  ])('%s', async (...[, answers, requests, rows]) => {
    const found = await ask(...answers)
    expect(found.requests).toBe(requests)
    expect(found.page).toMatchObject({ rows })
  })

  test('and ends the sweep when a record never has an id', async () => {
    const { page, requests } = await ask(withoutId, withoutId, withoutId)
    expect(page).toMatch(/the service returned a record without its id \(GET \/list, page 1\)/)
    expect(requests).toBe(3)
  })

  test('and counts with its rows, and its newest change', async () => {
    const records = ['2026-02-01', '2026-02-03', '2026-02-02'].map((day, n) => ({
      id: `${n}`,
      updatedAt: `${day}T00:00:00Z`,
    }))
    const { page } = await ask({ total: 9, limit: 3, records })
    expect(page).toMatchObject({ page: 1, total: 9, limit: 3, empty: false, rows: 3 })
    expect(page).toMatchObject({ newest: '2026-02-03T00:00:00Z' })
  })

  test('and says that it is empty, without a newest change', async () => {
    const { page } = await ask(raw(0, 0))
    expect(page).toEqual({ page: 1, total: 0, limit: 3, swept: [], empty: true, rows: 0 })
  })
})
