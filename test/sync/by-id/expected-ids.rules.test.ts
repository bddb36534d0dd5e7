/** How many records a run tells that it will fetch by id, while records name further ones. */
import { expect, test } from 'vitest'
import { fetchesInAll, type ResourceIdCounts } from '../../../src/sync/by-id/expected-ids.ts'

const none = { due: 0, asked: 0, again: 0, known: 0, knownBefore: 0, sources: new Map<string, number>() }
const assignments = (counts: Partial<ResourceIdCounts>): ResourceIdCounts => ({
  ...none,
  resource: 'assignments',
  ...counts,
})
const requisitions = (counts: Partial<ResourceIdCounts>): ResourceIdCounts => ({
  ...none,
  resource: 'requisitions',
  ...counts,
})

const ofRequisitions = (naming: ResourceIdCounts, own: Partial<ResourceIdCounts> = {}) => {
  const named = requisitions(own)
  const { pagesTotal, pagesMost } = fetchesInAll(named, [named, naming], 'company')
  return [pagesTotal, pagesMost]
}

test('before any was fetched, each record may name one, as often as those before it', () => {
  expect(ofRequisitions(assignments({ due: 60, known: 60 }))).toEqual([0, 60])
  const sources = new Map([
    ['star.fact_assignment.requisition_id', 40],
    ['star.bridge_assignment_link.linked_id', 10],
  ])
  const known = { known: 50, knownBefore: 50, sources }
  expect(ofRequisitions(assignments({ due: 60, known: 160 }), known)).toEqual([0, 15])
})

test('ids that lists named first are not expected from records', () => {
  const sources = new Map([['star.fact_metric_row.requisition_id', 50]])
  const known = { known: 50, knownBefore: 50, due: 50, sources }
  expect(ofRequisitions(assignments({ due: 60, known: 160 }), known)).toEqual([50, 50])
})

test('fetched records predict how many the rest will name', () => {
  const naming = assignments({ due: 1000, asked: 200, known: 1200 })
  expect(ofRequisitions(naming, { due: 100, known: 100 })).toEqual([100 + 400, 100 + 600])
  expect(ofRequisitions(naming)).toEqual([0, 0])
})

test('asked, due and chosen ones count, and nothing follows when nothing that names them is due', () => {
  expect(ofRequisitions(assignments({ known: 60 }), { asked: 3, due: 4, again: 5 })).toEqual([12, 12])
})

const naming = (parts: Partial<ResourceIdCounts>, own: Partial<ResourceIdCounts> = {}) =>
  ofRequisitions(assignments(parts), own)

test.each([
  [9, [0, 10]],
  [10, [80, 100]],
])('ten records show how many ids each names, %i do not', (asked, expected) => {
  const sources = new Map([['star.fact_assignment.requisition_id', 10]])
  expect(naming({ due: 100, asked, known: 110 }, { known: 10, sources })).toEqual(expected)
})

test.each([
  ['each names one at most', { known: 500 }, [80, 100]],
  ['ids that were known before are none of theirs', { known: 60, knownBefore: 50 }, [40, 60]],
  ['fewer than before are none', { known: 40, knownBefore: 50 }, [0, 0]],
  ['a share is rounded away from the estimate', { known: 7 }, [28, 42]],
])('%s', (...[, own, expected]) => {
  expect(naming({ due: 100, asked: 20, known: 120 }, own)).toEqual(expected)
})

test.each([
  ['no id is known yet: each may name one', { due: 60, known: 0 }, { known: 0 }, 60],
  ['more ids than records: each names one', { due: 60, known: 10 }, { known: 50 }, 60],
  ['none of the records is known: each names one', { due: 60, known: 0 }, { known: 50 }, 60],
  ['a share is rounded up', { due: 1, known: 100 }, { known: 50 }, 1],
])('before enough were fetched, %s', (...[, records, own, expected]) => {
  const sources = new Map([['star.fact_assignment.requisition_id', own.known]])
  expect(naming(records, { ...own, knownBefore: own.known, sources })).toEqual([0, expected])
})

test('before enough were fetched, ids that records of another kind named do not count', () => {
  const sources = new Map([
    ['star.fact_assignment.trade_id', 10],
    ['star.fact_requisition.trade_id', 40],
  ])
  const trades = { ...none, resource: 'trades', known: 50, knownBefore: 50, sources }
  const { pagesMost } = fetchesInAll(trades, [trades, assignments({ due: 60, known: 160 })], 'company')
  expect(pagesMost).toBe(4)
})

test('records that name ids of another resource only are not expected to name any', () => {
  const rates = { ...none, resource: 'rates', due: 9, known: 9 }
  const own = requisitions({})
  expect(fetchesInAll(own, [own, rates], 'company')).toEqual({ pagesTotal: 0, pagesMost: 0 })
})

test('of several resources that name ids the one with most records counts', () => {
  const trades = { ...none, resource: 'trades' }
  const few = { ...none, resource: 'requisitions', due: 3, known: 3 }
  const most = { ...none, resource: 'assignments', due: 8, known: 8 }
  const more = { ...none, resource: 'credit-notes', due: 99, known: 99 }
  const total = (...others: readonly ResourceIdCounts[]) =>
    fetchesInAll(trades, [trades, ...others], 'company').pagesMost
  expect([
    total(few, most, more),
    total(most, few),
    total(few),
    total({ ...few, due: 0 }),
    total(more),
  ]).toEqual([8, 8, 3, 0, 0])
})

test('an id of a record in a record of its own kind is not expected, nor one that brings its record', () => {
  const own = { ...none, resource: 'assignments', due: 9, known: 9 }
  expect(fetchesInAll(own, [own], 'company')).toEqual({ pagesTotal: 9, pagesMost: 9 })
  const rates = { ...none, resource: 'rates' }
  const trades = { ...none, resource: 'trades', due: 9, known: 9 }
  expect(fetchesInAll(rates, [rates, trades], 'company')).toEqual({ pagesTotal: 0, pagesMost: 0 })
})
