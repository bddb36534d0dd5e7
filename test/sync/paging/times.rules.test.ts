/** Source times: which of two is later, and the watermark that a page gives. */
import { describe, expect, test } from 'vitest'
import { isLater, spanOf } from '../../../src/sync/paging/times.ts'

const second = (fraction: string): string => `2026-03-01T10:00:00${fraction}Z`

describe('of two times the later one', () => {
  test.each([
    [second('.002'), second('.001'), true],
    [second('.001'), second('.002'), false],
    [second('.001'), second('.001'), false],
    [second('.000002'), second('.000001'), true],
    [second('.000001'), second('.000002'), false],
    ['2026-03-01T12:00:00+01:00', second('.000'), true],
    ['2026-03-01T10:30:00+01:00', second('.000'), false],
  ])('%s after %s: %s', (left, right, expected) => {
    expect(isLater(left, right)).toBe(expected)
  })
})

describe('the span of a page', () => {
  const now = Date.parse(second('.000'))
  const span = (...times: unknown[]) =>
    spanOf(
      times.map(at => ({ at })),
      'at',
      now,
    )

  test('is its least and greatest time, in order when they ascend or tie', () => {
    expect(span(second('.1'), second('.1'), second('.2'))).toEqual({
      ...{ oldest: second('.1'), newest: second('.2'), inOrder: true },
    })
    expect(span(second('.2'), second('.1'))).toEqual({
      ...{ oldest: second('.1'), newest: second('.2'), inOrder: false },
    })
  })

  test('ends at most a day ahead of the clock', () => {
    const day = '2026-03-02T10:00:00.000Z'
    const after = '2026-03-02T10:00:00.001Z'
    expect(span(second('.0'), day)).toMatchObject({ newest: day, inOrder: true })
    expect(span(second('.0'), after)).toMatchObject({ newest: second('.0'), inOrder: true })
    expect(span(after)).toEqual({ oldest: after, inOrder: true })
  })

  test.each([[null], [undefined], [7], ['soon']])('leaves out a time of %s, which breaks the order', time => {
    expect(span(second('.1'), time, second('.2'))).toEqual({
      ...{ oldest: second('.1'), newest: second('.2'), inOrder: false },
    })
  })

  test('of records that are no objects has no times', () => {
    expect(spanOf([null, 'text'], 'at', now)).toEqual({ inOrder: false })
    expect(span()).toEqual({ inOrder: true })
  })
})
