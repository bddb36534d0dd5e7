/** What a headline says of a figure, by weeks that can be checked by hand. */
import { describe, expect, test } from 'vitest'
import {
  changeInWords,
  contributionsTo,
  type HeadlineWeek,
  judgeHeadline,
  sentenceOf,
  shareInWords,
} from '../../src/dashboard/headline.ts'
import { utcDay } from '../../src/lib/dates.ts'

/** Weeks up to 15 November 2026 with these values, oldest first. */
const weeksOf = (...values: readonly number[]): HeadlineWeek[] =>
  values.map((value, place) => ({ week: utcDay('2026-11-15', -7 * (values.length - 1 - place)), value }))

const steady = [100, 104, 96, 100, 102, 98, 100, 104, 96, 100, 102, 98, 100]

describe('the change', () => {
  test('is against the average of the four settled weeks before', () => {
    expect(judgeHeadline(weeksOf(500, 90, 110, 100, 100, 112))).toMatchObject({
      ...{ week: '2026-11-15', value: 112, before: 100, weeksBefore: 4 },
    })
  })

  test('of a ratio is against the ratio of the totals of those weeks, not the average of their ratios', () => {
    const week = (day: string, numerator: number, denominator: number): HeadlineWeek => ({
      ...{ week: day, value: numerator / denominator, parts: { numerator, denominator } },
    })
    // 10 an hour for 90 hours and 30 an hour for 10 hours are 12 an hour; the ratios average to 20.
    const weeks = [week('2026-11-01', 900, 90), week('2026-11-08', 300, 10), week('2026-11-15', 150, 10)]
    expect(judgeHeadline(weeks)).toMatchObject({ value: 15, before: 12, weeksBefore: 2 })
  })

  test('against last year is against the week 52 weeks earlier, if it is settled', () => {
    const weeks = [{ week: '2025-11-16', value: 80 }, ...weeksOf(100, 120)]
    expect(judgeHeadline(weeks)?.lastYear).toBe(80)
    expect(judgeHeadline(weeksOf(100, 120))?.lastYear).toBeNull()
  })

  test('is missing without a settled week, and without one before it', () => {
    expect(judgeHeadline([])).toBeUndefined()
    expect(judgeHeadline(weeksOf(100))).toMatchObject({ before: null, weeksBefore: 0, isUnusual: false })
  })
})

describe('the usual range', () => {
  test('needs 13 settled weeks before the last one', () => {
    expect(judgeHeadline(weeksOf(...steady.slice(1), 300))).toMatchObject({ range: null, isUnusual: false })
    expect(judgeHeadline(weeksOf(...steady, 300))).toMatchObject({ isUnusual: true })
  })

  test('is left above and below, not by a usual move', () => {
    // Median 100, median deviation 2: 100 ± 10, as 3 x 1.4826 x 2 is less than a tenth of the median.
    expect(judgeHeadline(weeksOf(...steady, 111))?.range).toEqual({ low: 90, high: 110 })
    expect(judgeHeadline(weeksOf(...steady, 111))?.isUnusual).toBe(true)
    expect(judgeHeadline(weeksOf(...steady, 110))?.isUnusual).toBe(false)
    expect(judgeHeadline(weeksOf(...steady, 89))?.isUnusual).toBe(true)
  })
})

describe('the members that explain a change', () => {
  const anchor = { name: 'Anchor at Langdale', now: 80, before: 40 }
  const baird = { name: 'Baird at Leeds', now: 45, before: 30 }
  const cole = { name: 'Cole at York', now: 35, before: 30 }

  test('are one when it explains half or more', () => {
    expect(contributionsTo(60, [cole, anchor, baird])).toEqual([
      { name: 'Anchor at Langdale', share: 40 / 60 },
    ])
  })

  test('are two when neither explains half', () => {
    const names = contributionsTo(100, [cole, anchor, baird]).map(({ name }) => name)
    expect(names).toEqual(['Anchor at Langdale', 'Baird at Leeds'])
  })

  test('are none when the change is spread over many', () => {
    expect(contributionsTo(400, [cole, anchor, baird])).toEqual([])
  })

  test('moved the way the figure did', () => {
    expect(contributionsTo(-20, [anchor, { name: 'Dunn at Hull', now: 10, before: 30 }])).toEqual([
      { name: 'Dunn at Hull', share: 1 },
    ])
  })
})

describe('in words', () => {
  test('an unusual figure has a sentence that names who explains it', () => {
    const members = [{ name: 'Anchor Resourcing at Langdale Bridge', now: 30, before: 22 }]
    // 112 against 100, the average of the four weeks before.
    const facts = judgeHeadline(weeksOf(...steady, 112), members)
    expect(facts && sentenceOf('Labour cost', facts)).toBe(
      'Labour cost left its usual range: up 12% on the 4 weeks before, two thirds of it Anchor Resourcing at Langdale Bridge.',
    )
  })

  test('a usual figure has none', () => {
    const facts = judgeHeadline(weeksOf(...steady, 103))
    expect(facts && sentenceOf('Labour cost', facts)).toBeUndefined()
  })

  test.each([
    [0.25, 'a quarter of it'],
    [0.33, 'a third of it'],
    [0.5, 'half of it'],
    [0.66, 'two thirds of it'],
    [0.75, 'three quarters of it'],
    [0.9, 'most of it'],
    [1, 'all of it'],
    [1.4, 'more than all of it'],
  ])('a share of %d is %s', (share, words) => {
    expect(shareInWords(share)).toBe(words)
  })

  test.each([
    [0.12, 'up 12%'],
    [-0.034, 'down 3%'],
    [0.004, 'unchanged'],
  ])('a change of %d is %s', (change, words) => {
    expect(changeInWords(change)).toBe(words)
  })
})
