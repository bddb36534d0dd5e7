/** A first sync under a small budget takes some nights; from then on the budget goes to what is worth reading again. */
import { expect, test } from 'vitest'
import { byIdResources } from '../../src/contract/catalogue.ts'
import { liveThrough, type Night } from '../bench/runs.ts'
import { useEngines } from '../support/warehouse-fixture.ts'

const engines = useEngines()

const storedOf = ({ coverage }: Night): number => coverage.ids.reduce((sum, { stored }) => sum + stored, 0)
const knownOf = ({ coverage }: Night): number => coverage.ids.reduce((sum, { known }) => sum + known, 0)

test('stores what lists and events name after some runs, within the budget of each', async () => {
  const perDay = 60
  const nights = await liveThrough(await engines.duckdb(), {
    scale: 0.05,
    perDay,
    days: 5,
    changing: 0.2,
    resources: ['timesheets', 'invoices', 'metric-rows', ...byIdResources.map(({ name }) => name)],
  })
  // A quarter of the day is kept for events, reconciliation and people.
  for (const { requests } of nights) expect(requests).toBeLessThanOrEqual(perDay * 0.75)
  const [first, , , fourth, last] = nights as [Night, Night, Night, Night, Night]
  expect(first.isBehind).toBe(true)
  expect(storedOf(first)).toBeLessThan(knownOf(first))
  expect(first.coverage.requisitions.stored).toBeLessThan(5)
  expect([last.isBehind, storedOf(last)]).toEqual([false, knownOf(last)])
  const { stored, known, withoutId } = last.coverage.requisitions
  expect(stored + withoutId).toBe(known)
  // Nothing but the events of the third night names credit notes.
  expect(Number(first.coverage.creditNotes.stored)).toBe(0)
  expect(last.coverage.creditNotes.stored).toBe(last.coverage.creditNotes.onInvoices)
  // A fifth of the records changes each day: what is left of the budget keeps most of the others fresh.
  expect(fourth.requests).toBeGreaterThan(30)
  expect(last.fresh.assignments).toBeGreaterThan(0.5)
}, 60_000)
