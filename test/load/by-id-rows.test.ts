/** The rows of records that are read by id: inferred members that they replace, and tables that several resources share. */
import { expect, test } from 'vitest'
import { findResource } from '../../src/contract/catalogue.ts'
import type { Resource } from '../../src/contract/fields/resource.ts'
import { readById } from '../support/records-by-id.ts'
import { describeOnEngines, type Warehouse } from '../support/warehouse-fixture.ts'

const of = (name: string): Resource => findResource(name) as Resource
const at = (day: number): string => new Date(Date.UTC(2026, 8, day)).toISOString()
const named = (id: string) => ({ id, name: `Name of ${id}` })

const asking = (quantity: number, day: number) => ({
  id: 'r1',
  quantity,
  trade: named('t1'),
  updatedAt: at(day),
})

/** A rate by the hour and by the day, and one by the piece where it has a price. */
const rateOf = (pay: number, price: number | null) => ({
  id: 'rate1',
  region: named('region1'),
  rates: { cis: { pay, charge: 2 * pay, comparablePayRate: 9 }, paye: null },
  dayRates: { psc: { pay: 10 * pay } },
  pieceRates: price === null ? [] : [{ id: 'piece1', code: 'P', values: { cis: { pay: price } } }],
})

const rateWithPiece = (id: unknown) => ({ id, pieceRates: [{ id: 'piece1', values: { cis: { pay: 3 } } }] })
const tradeWith = (id: string, rates: unknown[], day = 1) => ({ id, rates, updatedAt: at(day) })

/** A mandatory qualification, by itself and in a group. */
const requirementsOf = (name: string) => [
  { rule: 'mandatory', items: [{ name }], groups: [{ items: [{ name }] }] },
]

/** A trade that requires a qualification, in its company and in one sector. */
const tradeRequiring = (name: string, day: number) => ({
  id: 'same',
  competencyMatrix: [
    { sector: null, requirements: requirementsOf(name) },
    { sector: named('s1'), requirements: requirementsOf(name) },
  ],
  updatedAt: at(day),
})

describeOnEngines('rows of records read by id', bench => {
  type Row = Readonly<Record<string, unknown>>
  const all = ({ engine }: Warehouse, sql: string) => engine.rows<Row>(sql)
  const one = async (warehouse: Warehouse, sql: string) => (await all(warehouse, sql))[0]

  test('a trade replaces the inferred row of a reference, and later references leave it alone', async () => {
    const warehouse = await bench.warehouse()
    const trade = `select name, is_inferred, is_active from star.dim_trade where trade_id = 't1'`
    await readById(warehouse, of('requisitions'), [asking(5, 1)])
    expect(await one(warehouse, trade)).toEqual({ name: 'Name of t1', is_inferred: true, is_active: null })
    const record = { id: 't1', name: 'Joiner', active: true, updatedAt: at(2) }
    expect(await readById(warehouse, of('trades'), [record])).toMatchObject({ inserted: 1 })
    await readById(warehouse, of('requisitions'), [asking(6, 10)])
    expect(await one(warehouse, trade)).toEqual({ name: 'Joiner', is_inferred: false, is_active: true })
    const history = await all(warehouse, `select 1 as one from history.dim_trade`)
    expect(history).toEqual([])
  })

  test('a rate has one row per set, as it was read last', async () => {
    const warehouse = await bench.warehouse()
    const sets = `select basis, rate_type, pay, comparable_pay_rate as comparable, trade_id, region_id, read_from
      from star.fact_rate order by basis`
    const cards = `select piece_rate_id, rate_type, pay, read_from from star.fact_piece_rate_card`
    const trade = { id: 't1', company: named('c1'), rates: [rateOf(20, 3)], updatedAt: at(1) }
    await readById(warehouse, of('trades'), [trade])
    const ofTrade = { trade_id: 't1', region_id: 'region1', read_from: 'trade' }
    expect(await all(warehouse, sets), 'rates of the trade').toEqual([
      { basis: 'daily', rate_type: 'psc', pay: '200.0000', comparable: null, ...ofTrade },
      { basis: 'hourly', rate_type: 'cis', pay: '20.0000', comparable: '9.0000', ...ofTrade },
    ])
    expect(await all(warehouse, cards), 'pieces of the trade').toEqual([
      { piece_rate_id: 'piece1', rate_type: 'cis', pay: '3.0000', read_from: 'trade' },
    ])
    const storedRate = `select is_inferred, trade_id, company_id, region_id, sector_id from star.dim_rate where rate_id = 'rate1'`
    const reach = { trade_id: 't1', company_id: 'c1', region_id: 'region1', sector_id: '-1' }
    expect(await one(warehouse, storedRate), 'the rate before it is read').toEqual({
      is_inferred: true,
      ...reach,
    })

    const single = { ...rateOf(21, null), trade: named('t1'), company: named('c1'), updatedAt: at(2) }
    await readById(warehouse, of('rates'), [single])
    expect(await one(warehouse, storedRate), 'the rate once it is read').toEqual({
      is_inferred: false,
      ...reach,
    })
    expect(
      (await all(warehouse, sets)).map(({ pay, read_from }) => [pay, read_from]),
      'rates once the rate is read',
    ).toEqual([
      ['210.0000', 'rate'],
      ['21.0000', 'rate'],
    ])
    expect(await all(warehouse, cards), 'pieces once the rate is read').toEqual([])

    await readById(warehouse, of('trades'), [{ ...trade, rates: [rateOf(22, 4)], updatedAt: at(3) }])
    expect(
      (await all(warehouse, sets)).map(({ pay, read_from }) => [pay, read_from]),
      'rates once the trade is read again',
    ).toEqual([
      ['220.0000', 'trade'],
      ['22.0000', 'trade'],
    ])
    expect(await one(warehouse, storedRate), 'the rate once the trade is read again').toEqual({
      is_inferred: false,
      ...reach,
    })
  })

  test('a rate that one trade gives twice, and another trade too, stops no load', async () => {
    const warehouse = await bench.warehouse()
    const trades = [
      tradeWith('t1', [rateWithPiece('rate1'), rateWithPiece('rate1'), rateWithPiece(null), {}]),
      tradeWith('t2', [rateWithPiece('rate1'), rateWithPiece(null)]),
    ]
    await readById(warehouse, of('trades'), trades)
    await readById(warehouse, of('trades'), [tradeWith('t2', [rateWithPiece('rate1')], 2)])
    const owners = `select entity_id, rate_id, count(*) as pieces from star.bridge_rate_piece_rate group by 1, 2 order by 1, 2`
    expect((await all(warehouse, owners)).map(row => Object.values(row).map(String))).toEqual([
      ['t1', '-1', '1'],
      ['t1', 'rate1', '2'],
      ['t2', 'rate1', '1'],
    ])
  })

  test('an assignment joins its purchase order by reference, and links to other assignments', async () => {
    const warehouse = await bench.warehouse()
    const assignment = {
      id: 'as1',
      company: named('c1'),
      purchaseOrder: 'PO-1',
      shiftPattern: {
        m: { start: 8, end: 17, active: true, break: null, night: false },
        su: { active: false },
      },
      rateUplifts: { sat: 1.5, unheardOf: 2 },
      replacement: {
        replacementFor: { id: 'as0', reference: 'A-0' },
        requisition: { id: 'r1', reference: 'R-1', nanoid: 'n1' },
        reason: 'Words',
        type: 'swap',
      },
      clone: { date: at(1), original: { id: 'as9', reference: 'A-9' } },
      updatedAt: at(1),
    }
    await readById(warehouse, of('assignments'), [assignment])
    const order = { id: 'po1', reference: 'PO-1', company: named('c1'), value: 100, updatedAt: at(1) }
    await readById(warehouse, of('purchase-orders'), [order])
    const join = `select s.is_inferred, s.reference, o.purchase_order_id as id, o.value
      from star.fact_assignment a join star.dim_purchase_order s on s.purchase_order_id = a.purchase_order_id
      join star.dim_purchase_order o on o.purchase_order_reference_key = s.purchase_order_reference_key and not o.is_inferred`
    expect(await all(warehouse, join)).toEqual([
      { is_inferred: true, reference: 'PO-1', id: 'po1', value: '100.0000' },
    ])
    const links = `select kind, linked_entity, linked_id, linked_nanoid, type, reason_length as length
      from star.bridge_assignment_link order by kind`
    expect((await all(warehouse, links)).map(row => Object.values(row).map(v => v && String(v)))).toEqual([
      ['clone_original', 'assignment', 'as9', null, null, null],
      ['replacement_for', 'assignment', 'as0', null, 'swap', '5'],
      ['replacement_requisition', 'requisition', 'r1', 'n1', 'swap', '5'],
    ])
    const shifts = `select weekday, shift_start, is_active from star.fact_assignment_shift order by day_of_week_iso`
    expect(await all(warehouse, shifts)).toEqual([
      { weekday: 'monday', shift_start: '8.00000000', is_active: true },
      { weekday: 'sunday', shift_start: null, is_active: false },
    ])
    const uplifts = `select uplift_key, uplift from star.fact_assignment_uplift order by uplift_key`
    expect((await all(warehouse, uplifts)).map(row => [row.uplift_key, Number(row.uplift)])).toEqual([
      ['sat', 1.5],
      ['unheardOf', 2],
    ])
  })

  test('rules of trades and assignments share tables, and each record replaces only its own rows', async () => {
    const warehouse = await bench.warehouse()
    const assignment = {
      id: 'same',
      trade: named('same'),
      competencyRequirements: requirementsOf('Card'),
      updatedAt: at(1),
    }
    await readById(warehouse, of('trades'), [tradeRequiring('Card', 1)])
    await readById(warehouse, of('assignments'), [assignment])
    await readById(warehouse, of('trades'), [tradeRequiring('Ticket', 2)])
    const rows = `select r.entity, r.trade_id, r.sector_id, r.source, q.name, count(*) as n,
        count(distinct competency_requirement_key) as keys
      from star.fact_competency_requirement r join star.dim_qualification q using (qualification_id)
      group by 1, 2, 3, 4, 5 order by 1, 3`
    expect((await all(warehouse, rows)).map(row => Object.values(row).map(String))).toEqual([
      ['assignment', 'same', '-1', 'assignment', 'Card', '2', '2'],
      ['trade', 'same', '-1', 'company', 'Ticket', '2', '2'],
      ['trade', 'same', 's1', 'sector', 'Ticket', '2', '2'],
    ])
  })
})
