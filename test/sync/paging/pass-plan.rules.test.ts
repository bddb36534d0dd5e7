/** How the passes of a scan differ: what they sort by, how much they read, and how many rows they ask for a page. */
import { describe, expect, test } from 'vitest'
import { planOf, sizeOf, snapshotPlan } from '../../../src/sync/paging/pass-plan.ts'

const byUpdate = { sortBy: 'updatedAt', isShort: false, hasOtherSize: false } as const
const byCreation = { ...byUpdate, sortBy: 'createdAt' } as const
const short = { ...byUpdate, isShort: true }
const others = { hasOtherSize: true }

describe('a pass over a complete list', () => {
  test.each([
    [1, byUpdate],
    [2, short],
    [3, byCreation],
    [4, { ...byUpdate, ...others }],
    [5, { ...byCreation, ...others }],
    [6, byUpdate],
    [7, byCreation],
    [8, { ...byUpdate, ...others }],
    [9, { ...byCreation, ...others }],
    [10, byUpdate],
    [11, byCreation],
  ])('number %i', (attempt, plan) => {
    expect(planOf(attempt, { isPart: false, total: undefined })).toEqual(plan)
  })

  test('may be by creation, however long the list is', () => {
    expect(planOf(3, { isPart: false, total: 10_001 })).toEqual(byCreation)
  })
})

describe('a pass over changes', () => {
  test.each([
    [1, byUpdate],
    [2, short],
    [3, byUpdate],
    [4, { ...byUpdate, ...others }],
    [5, byCreation],
    [6, byUpdate],
    [7, byUpdate],
    [8, { ...byUpdate, ...others }],
    [9, byCreation],
    [10, byUpdate],
  ])('number %i', (attempt, plan) => {
    expect(planOf(attempt, { isPart: true, total: undefined })).toEqual(plan)
  })

  test.each([
    [10_000, 'createdAt'],
    [10_001, 'updatedAt'],
  ])('reads no more than 50 pages by creation: of %i records it sorts by %s', (total, sortBy) => {
    expect(planOf(5, { isPart: true, total }).sortBy).toBe(sortBy)
  })
})

describe('the rows to ask for a page', () => {
  test.each([
    ['as many as pages have', byUpdate, 10, 10],
    ['four fifths where pages shall have another size', { ...byUpdate, ...others }, 10, 8],
    ['four fifths, rounded down', { ...byUpdate, ...others }, 9, 7],
    ['at least one', { ...byUpdate, ...others }, 1, 1],
  ])('are %s', (...[, plan, pageSize, expected]) => expect(sizeOf(plan, pageSize)).toBe(expected))
})

test('every third pass of a snapshot asks for pages of another size', () => {
  const plan = (attempt: number) => snapshotPlan(attempt)
  expect([1, 2, 3, 4, 5, 6].map(plan)).toEqual([
    ...[byUpdate, byUpdate, { ...byUpdate, ...others }],
    ...[byUpdate, byUpdate, { ...byUpdate, ...others }],
  ])
})
