/** What a page is compared with, by days that can be checked on a calendar. */
import { describe, expect, test } from 'vitest'
import { comparedFigures, comparedPeriod, isComparable, withBefore } from '../../src/dashboard/comparison.ts'
import { readFilters } from '../../src/dashboard/filters.ts'
import { pages } from '../../src/dashboard/pages/pages.ts'
import { readMarts } from '../../src/marts/mart.ts'
import { semanticCatalogue } from '../../src/semantic/catalogue.ts'

const stored = { first: '2025-01-05', settled: '2026-11-15' }
const between = (query: string) => comparedPeriod(readFilters(new URLSearchParams(query)), stored)
const panels = pages.flatMap(page => page.panels)
const entities = new Map(semanticCatalogue(readMarts()).map(entity => [entity.name, entity]))
const columnsOf = (mart: string): Set<string> =>
  new Set(entities.get(mart)?.dimensions.map(({ name }) => name))
const compared = panels.filter(panel => isComparable(panel, columnsOf(panel.mart)))

describe('the period before', () => {
  test('is as long as the period, and ends the day before it', () => {
    // Four weeks from Monday to Sunday.
    expect(between('from=2026-10-19&to=2026-11-15')).toEqual({
      ...{ from: '2026-10-19', to: '2026-11-15', shift: 28 },
      before: { from: '2026-09-21', to: '2026-10-18' },
    })
  })

  test('is of whole weeks, so that a week is compared with a week', () => {
    // 27 days are shifted by 28.
    expect(between('from=2026-10-20&to=2026-11-15')).toMatchObject({
      ...{ shift: 28, before: { from: '2026-09-22', to: '2026-10-18' } },
    })
  })

  test('leaves out weeks that are not settled, on both sides', () => {
    const open = comparedPeriod({ ids: {}, from: '2026-10-19' }, stored)
    expect(open).toEqual(between('from=2026-10-19&to=2026-11-15'))
  })

  test.each([
    ['', 'choose a first day'],
    ['to=2026-11-15', 'choose a first day'],
    ['from=2026-11-16', 'no week of these dates is settled yet'],
    ['from=2025-06-01', 'the first stored week ends on 2025-01-05'],
  ])('is none with "%s", and a sentence says why', (query, words) => {
    expect(between(query)).toEqual({ why: expect.stringContaining(words) })
  })
})

test('rows have the figures of the same member, also of one that is gone, or of the week as far into the period before', () => {
  const [weeks, bars] = ['cost-by-week', 'cost-by-agency'].map(id => panels.find(one => one.id === id))
  if (!weeks || !bars) throw new Error('no such panel')
  const now = [{ week_ending_date: '2026-11-15', cost: '120' }]
  const before = [
    { week_ending_date: '2026-11-08', cost: '90' },
    { week_ending_date: '2026-10-18', cost: '100' },
  ]
  expect(withBefore(weeks, { now, before, shift: 28 })).toMatchObject([{ cost: '120', before_cost: '100' }])
  expect(
    withBefore(bars, {
      now: [
        { agency_id: 'a', cost: '5' },
        { agency_id: 'new', cost: '7' },
      ],
      before: [
        { agency_id: 'a', cost: '4' },
        { agency_id: 'gone', cost: '9' },
      ],
      shift: 28,
    }),
  ).toMatchObject([
    { agency_id: 'a', before_cost: '4' },
    { agency_id: 'new', before_cost: null },
    { agency_id: 'gone', cost: null, before_cost: '9' },
  ])
})

test('what is compared is of marts whose time is a week that settles, as the semantic catalogue has it', () => {
  expect(compared.length).toBeGreaterThan(15)
  for (const { id, mart, date } of compared)
    expect([id, entities.get(mart)?.time]).toEqual([id, { column: date, grain: 'week' }])
})

test('nothing that stands now is compared, nor what waits for approval', () => {
  const ids = compared.map(({ id }) => id)
  for (const id of ['not-invoiced', 'outstanding', 'late-timesheets', 'headline-waiting'])
    expect(ids).not.toContain(id)
  const byWeek = panels.find(({ id }) => id === 'cost-by-week')
  const figures = byWeek ? comparedFigures(byWeek.show).map(({ column }) => column) : []
  expect(figures).toContain('cost')
  expect(figures).not.toContain('pending')
})
