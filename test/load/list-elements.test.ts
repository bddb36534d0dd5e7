/** Elements of lists inside records arrive, whatever else stands in them. */
import { expect, test } from 'vitest'
import { oneList } from '../support/one-list.ts'
import { describeOnEngines, syncOnce } from '../support/warehouse-fixture.ts'

const at = '2026-01-05T00:00:00.000Z'
const record = { id: 'i1', reference: 'I', status: 'pending', createdAt: at, updatedAt: at }

describeOnEngines('elements of a list', bench => {
  test.each([
    ['an undeclared field', { extNote: 'new' }, 'T'],
    ['an undeclared field without a value', { extEmpty: null }, 'T'],
    ['an undeclared object', { extOrigin: { system: 'import' } }, 'T'],
    ['a quote', {}, 'T "quoted"'],
    ['a line break', {}, 'T\nnext'],
    ['brackets and commas', {}, 'T}, {"id": [1], \\'],
    ['letters of many scripts', {}, 'Té 時 💥'],
  ])('arrive with %s', async (_, more, reference) => {
    const timesheets = [
      { id: 'a', reference: 'A' },
      { id: 'b', reference, ...more },
      { id: 'c', reference: 'C' },
    ]
    // Escapes as a service may write them: every character beyond ASCII as \u.
    const text = JSON.stringify({ ...record, timesheets }).replace(
      /[^ -~]/g,
      char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
    const warehouse = await bench.warehouse()
    const list = await oneList('/invoices', [text])
    const outcome = await syncOnce(list, warehouse, { request: { resources: ['invoices'] } })
    expect(outcome.failure).toBeUndefined()
    const rows = await warehouse.engine.rows(
      'select timesheet_id, timesheet_reference from star.bridge_invoice_timesheet order by timesheet_ordinal',
    )
    expect(rows).toEqual(
      timesheets.map(({ id, reference: text }) => ({ timesheet_id: id, timesheet_reference: text })),
    )
  })
})
