/** Suggestions for names that were mistyped, and none for words that have nothing to do with any of them. */
import { expect, test } from 'vitest'
import { choiceOf, didYouMean, nearest } from '../../src/lib/text/nearest.ts'

const names = ['sync', 'sweep', 'status']

test.each([
  ['synk', 'sync'],
  ['swep', 'sweep'],
  ['xyz', undefined],
  ['', undefined],
])('%j is nearest to %s', (name, found) => expect(nearest(name, names)).toBe(found))

test.each([
  ['labour_spend', 'labour_spend_weekly'],
  ['Labour_Spend_Weekly', 'labour_spend_weekly'],
  ['weekly', 'labour_spend_weekly'],
  ['lab', undefined],
])('%j, which is part of a name or in capitals, is nearest to %s', (name, found) =>
  expect(nearest(name, ['labour_spend_by_agency_weekly', 'labour_spend_weekly', 'dim_date'])).toBe(found),
)

const resources = ['timesheets', 'companies', 'expenses', 'sites', 'purchase-orders', 'requisitions', 'me']

test.each([
  ['timesheet', 'timesheets'],
  ['company', 'companies'],
  ['expense', 'expenses'],
  ['SITE', 'sites'],
  ['purchase_order', 'purchase-orders'],
  ['PurchaseOrders', 'purchase-orders'],
  ['hours', 'timesheets'],
  ['vacancy', 'requisitions'],
  ['suppliers', 'companies'],
  ['weekly-timesheets', 'timesheets'],
  ['tmiesheets', 'timesheets'],
  ['xylophone', undefined],
])('%j, by number, spelling, another word or a slip, is nearest to %s', (name, found) =>
  expect(nearest(name, resources)).toBe(found),
)

test('another word stands for a name only where that name exists', () => {
  expect(nearest('url', ['baseUrl', 'apiKey'])).toBe('baseUrl')
  expect(nearest('url', ['apiKey', 'warehouse'])).toBeUndefined()
})

test('suggests only the closest of many names', () => {
  const many = Array.from({ length: 20 }, (_, index) => `mart_of_${index}`)
  expect([choiceOf('mart_of_3x', many), choiceOf('zzz', many)]).toEqual([
    'did you mean mart_of_3?',
    `name one of ${many.join(', ')}`,
  ])
})

test('says which name was meant, and which others there are', () => {
  expect([didYouMean('synk', names), didYouMean('xyz', names)]).toEqual([', did you mean sync?', ''])
  expect([
    choiceOf('synk', names),
    choiceOf('synk', ['sync', 'sweep']),
    choiceOf('synk', ['sync']),
    choiceOf('xyz', names),
  ]).toEqual([
    'did you mean sync? The others are sweep, status',
    'did you mean sync? The other is sweep',
    'did you mean sync?',
    'name one of sync, sweep, status',
  ])
})
