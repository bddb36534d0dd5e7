/** Which amounts of its credit notes an invoice adds up, on notes made by hand: `sql/part/credited_invoice.sql`. */
import { expect, test } from 'vitest'
import { ledgerBench } from '../../support/ledger-bench.ts'
import { selecting } from './selecting.ts'

const bench = ledgerBench()

interface Note {
  readonly subtotal?: number | null
  readonly total?: number | null
  readonly final_total?: number | null
  readonly is_deleted?: boolean
}

const whole: Note = { subtotal: 100, total: 120, final_total: 90 }

async function invoice(id: string, given: number | null, notes: readonly Note[] = [whole]): Promise<void> {
  await bench.insert('star.fact_invoice', { invoice_id: id, credit_notes: given, is_deleted: false })
  await bench.insert(
    'star.fact_credit_note',
    ...notes.map((note, index) => ({
      ...{ credit_note_id: `${id}-${index}`, invoice_id: id, is_deleted: false, ...note },
    })),
  )
}

const held = (): Promise<unknown[]> =>
  bench.column(
    selecting(
      ['credited_invoice'],
      `select invoice_id || ': ' || basis || ' ' || cast(cast(held as double precision) as text) from credited_by_basis order by 1`,
    ),
  )

test.each([
  [100, 'before VAT 100.0'],
  [120, 'with VAT 120.0'],
  [90, 'after deductions 90.0'],
  [100.05, 'before VAT 100.0'],
  [99.95, 'before VAT 100.0'],
  [100.06, 'not known 100.0'],
  [99.94, 'not known 100.0'],
  [120.05, 'with VAT 120.0'],
  [120.06, 'not known 100.0'],
  [119.94, 'not known 100.0'],
  [90.05, 'after deductions 90.0'],
  [90.06, 'not known 100.0'],
  [89.94, 'not known 100.0'],
  [null, 'not known 100.0'],
])('an invoice with %d of credit, of a note of 100, 120 and 90: %s', async (given, said) => {
  await invoice('i', given)
  expect(await held()).toEqual([`i: ${said}`])
})

test.each([
  [{ subtotal: 100, total: 100, final_total: 100 }, 'not known'],
  [{ subtotal: 100, total: 100.05, final_total: 99.95 }, 'not known'],
  [{ subtotal: 100, total: 100.06, final_total: 100 }, 'before VAT'],
  [{ subtotal: 100, total: 100, final_total: 99.94 }, 'before VAT'],
])('a note whose amounts are alike, %j, tells nothing: %s', async (note, basis) => {
  await invoice('i', 100, [note])
  expect(await held()).toEqual([`i: ${basis} 100.0`])
})

test('the amounts of several notes are added, deleted ones and missing amounts aside', async () => {
  await invoice('i', 240, [whole, whole, { ...whole, is_deleted: true }])
  expect(await held()).toEqual(['i: with VAT 240.0'])
  await invoice('j', 120, [whole, { subtotal: null, total: null, final_total: null }])
  expect((await held())[1]).toBe('j: with VAT 120.0')
})

test('an invoice that does not tell has the basis of most that do, and of the first in the alphabet among equals', async () => {
  await invoice('a', 100)
  await invoice('b', 90)
  await invoice('none', 0, [])
  await invoice('other', 55)
  expect(await held()).toEqual([
    ...['a: before VAT 100.0', 'b: after deductions 90.0', 'none: after deductions 0.0'],
    'other: after deductions 90.0',
  ])
  await invoice('c', 100)
  expect((await held()).slice(3)).toEqual(['none: before VAT 0.0', 'other: before VAT 100.0'])
  await invoice('d', 120)
  await invoice('e', 120)
  await invoice('f', 120)
  expect((await held()).slice(6)).toEqual(['none: with VAT 0.0', 'other: with VAT 120.0'])
})

test('an invoice that was deleted does not tell', async () => {
  await invoice('i', 90)
  await bench.engine.run(`update star.fact_invoice set is_deleted = true`)
  await invoice('other', 55)
  expect(await held()).toEqual(['other: not known 100.0'])
})

test('a note of no invoice, or of none that is stored, changes nothing', async () => {
  await invoice('i', 100)
  for (const id of [null, 'unknown'])
    await bench.insert('star.fact_credit_note', {
      ...{ credit_note_id: `of ${id}`, invoice_id: id, is_deleted: false, ...whole },
    })
  expect(await held()).toEqual(['i: before VAT 100.0'])
})
