/** What totals of timesheets include, on timesheets made by hand: `sql/part/timesheet_total.sql`. */
import { beforeEach, expect, test } from 'vitest'
import { ledgerBench } from '../../support/ledger-bench.ts'
import { selecting } from './selecting.ts'

const bench = ledgerBench()

interface Sheet {
  readonly pay?: number | null
  readonly charge?: number | null
  readonly expense?: number | null
  readonly more?: Readonly<Record<string, unknown>>
}

let sheets = 0

beforeEach(() => {
  sheets = 0
})

/** Ten hours for 100 of pay and 150 of charge; `pay` and `charge` are what the totals hold beyond that. */
async function sheet({ pay = 0, charge = 0, expense = null, more = {} }: Sheet): Promise<string> {
  sheets += 1
  const id = `t${sheets}`
  await bench.insert('star.fact_timesheet', {
    ...{ timesheet_id: id, company_id: 'c', is_deleted: false, expense_value: expense },
    ...{ pay_wd_basic: 100, charge_wd_basic: 150, pay_total: pay === null ? null : 100 + pay },
    ...{ charge_total: charge === null ? null : 150 + charge, ...more },
  })
  return id
}

type Amount = number | null

const piece = (id: string, [pay, charge]: readonly [Amount, Amount], isDeleted = false) =>
  bench.insert('star.fact_piece_rate_entry', {
    ...{ piece_rate_entry_id: `${id} ${pay} ${charge}`, timesheet_id: id, is_deleted: isDeleted },
    ...{ total_pay_value: pay, total_charge_value: charge },
  })

const basis = async (): Promise<unknown> =>
  (await bench.column(selecting(['timesheet_total'], 'select total_basis from total_basis')))[0]

const bases = {
  buckets: [0, 0],
  'buckets and pieces': [20, 30],
  'buckets and expenses': [10, 10],
  'buckets, pieces and expenses': [30, 40],
} as const

const names = Object.keys(bases) as (keyof typeof bases)[]

test.each(names)('a total that fits %s alone tells so', async name => {
  const [pay, charge] = bases[name]
  await piece(await sheet({ pay, charge, expense: 10 }), [20, 30])
  expect(await basis()).toBe(name)
})

test.each(
  names.flatMap(name =>
    (
      [
        [0.05, 0, true],
        [-0.05, 0, true],
        [0, 0.05, true],
        [0, -0.05, true],
        [0.06, 0, false],
        [-0.06, 0, false],
        [0, 0.06, false],
        [0, -0.06, false],
      ] as const
    ).map(([pay, charge, fits]) => [name, pay, charge, fits] as const),
  ),
)(
  'a total of %s that is off by %d of pay and %d of charge fits: %s',
  async (...[name, pay, charge, fits]) => {
    const other = name === 'buckets' ? 'buckets and pieces' : 'buckets'
    // Once for another sum, and twice for this one if it fits.
    for (const one of [other, name, name] as const) {
      const off = one === name ? ([pay, charge] as const) : ([0, 0] as const)
      const id = await sheet({ pay: bases[one][0] + off[0], charge: bases[one][1] + off[1], expense: 10 })
      await piece(id, [20, 30])
    }
    expect(await basis()).toBe(fits ? name : other)
  },
)

test('of sums that fit as often the one with the least is taken', async () => {
  for (const name of names) {
    const [pay, charge] = bases[name]
    await piece(await sheet({ pay, charge, expense: 10 }), [20, 30])
  }
  expect(await basis()).toBe('buckets')
  await bench.engine.run(`delete from star.fact_timesheet where timesheet_id = 't1'`)
  expect(await basis()).toBe('buckets and pieces')
  await bench.engine.run(`delete from star.fact_timesheet where timesheet_id = 't2'`)
  expect(await basis()).toBe('buckets and expenses')
  await bench.engine.run(`delete from star.fact_timesheet where timesheet_id = 't3'`)
  expect(await basis()).toBe('buckets, pieces and expenses')
})

test.each(['pay', 'charge'] as const)('a missing total of %s rules out no sum', async kind => {
  const totals = { pay: 20, charge: 30, [kind]: null }
  await piece(await sheet({ ...totals, expense: 10 }), [20, 30])
  expect(await basis()).toBe('buckets and pieces')
})

test.each([
  ['expenses', { expense: 10 }, undefined, 'buckets and expenses'],
  ['piece work that is only paid', {}, [10, 0], 'buckets and pieces'],
  ['piece work that is only charged', {}, [0, 10], 'buckets and pieces'],
  ['piece work without a charge', {}, [10, null], 'buckets and pieces'],
  ['piece work without a pay', {}, [null, 10], 'buckets and pieces'],
  ['nothing else', {}, undefined, 'buckets'],
] as const)('a timesheet with %s tells by its totals', async (...[, parts, entry, name]) => {
  const [pay, charge] = entry ?? ('expense' in parts ? [10, 10] : [0, 0])
  const id = await sheet({ ...parts, pay: pay ?? 0, charge: charge ?? 0 })
  if (entry) await piece(id, entry)
  expect(await basis()).toBe(name)
})

test('what was deleted does not tell', async () => {
  const id = await sheet({ pay: 20, charge: 30, expense: 10 })
  await piece(id, [20, 30])
  await piece(id, [5, 5], true)
  expect(await basis()).toBe('buckets and pieces')
  // Two of another sum would outvote it.
  for (const _ of [1, 2]) await sheet({ pay: 10, charge: 10, expense: 10, more: { is_deleted: true } })
  expect(await basis()).toBe('buckets and pieces')
})

const buckets = [
  ...['wd_basic', 'wd_overtime', 'wd_nightwork', 'we_nightwork', 'bank_holiday', 'bank_holiday_night'],
  ...['saturday', 'sunday', 'saturday_nightwork', 'sunday_nightwork'],
]

test.each(buckets)('the hours of %s belong to the buckets', async name => {
  const more = { pay_wd_basic: null, charge_wd_basic: null, [`pay_${name}`]: 100, [`charge_${name}`]: 150 }
  await sheet({ pay: 10, charge: 10, expense: 10, more })
  expect(await basis()).toBe('buckets and expenses')
})
