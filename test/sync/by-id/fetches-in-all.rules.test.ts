/** How many records a run tells that it will fetch by id, while records name further ones. */
import { expect, test } from 'vitest'
import { fetchesInAll, type IdCounts } from '../../../src/sync/by-id/ids-to-follow.ts'

const none = { due: 0, asked: 0, again: 0, known: 0, knownBefore: 0, sources: new Map<string, number>() }
const assignments = (counts: Partial<IdCounts>): IdCounts => ({ ...none, resource: 'assignments', ...counts })
const requisitions = (counts: Partial<IdCounts>): IdCounts => ({
  ...none,
  resource: 'requisitions',
  ...counts,
})

const ofRequisitions = (naming: IdCounts, own: Partial<IdCounts> = {}) => {
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

test('those that were fetched tell how many the rest will name', () => {
  const naming = assignments({ due: 1000, asked: 200, known: 1200 })
  expect(ofRequisitions(naming, { due: 100, known: 100 })).toEqual([100 + 400, 100 + 600])
  expect(ofRequisitions(naming)).toEqual([0, 0])
})

test('asked, due and chosen ones count, and nothing follows when nothing that names them is due', () => {
  expect(ofRequisitions(assignments({ known: 60 }), { asked: 3, due: 4, again: 5 })).toEqual([12, 12])
})
