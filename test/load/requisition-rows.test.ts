/** Sums over the lists of a requisition, and the durations of its approval and its stages. */
import { expect, test } from 'vitest'
import { findResource } from '../../src/contract/catalogue.ts'
import type { Resource } from '../../src/contract/fields/resource.ts'
import { readById } from '../support/records-by-id.ts'
import { describeOnEngines, type Warehouse } from '../support/warehouse-fixture.ts'

const of = (name: string): Resource => findResource(name) as Resource
const at = (day: number, hour = 9): string => new Date(Date.UTC(2026, 8, day, hour)).toISOString()
const named = (id: string) => ({ id, name: `Name of ${id}` })

const requisition = {
  id: 'r1',
  quantity: 5,
  requestor: { name: 'Requestor', email: 'Requestor@Example.com' },
  approver: { name: 'Requestor', email: 'requestor@example.com' },
  trade: named('t1'),
  approvedDate: at(4, 21),
  createdAt: at(1),
  updatedAt: at(9),
  approvalStages: [
    { stage: 1, name: 'Site', approved: true, approvedAt: at(2) },
    { stage: 2, name: 'Cost', approved: true, approvedAt: at(4, 21) },
    { stage: 3, name: 'Board', approved: false, approvedAt: null },
  ],
  agencies: [
    { ...named('a1'), offered: 3, assigned: 2, dateReceived: at(5), dateAccepted: at(6), submissions: [] },
    {
      ...named('a2'),
      offered: 2,
      assigned: 1,
      dateReceived: at(4),
      dateAccepted: null,
      submissions: [
        { worker: named('w1'), submittedAt: at(7), isRejected: true, rejectionReason: 'No card' },
        { worker: named('w2'), submittedAt: at(6), isRejected: false },
      ],
    },
    { ...named('a3') },
  ],
  stageTracking: [
    {
      worker: named('w2'),
      agency: named('a2'),
      stage: 'offerMade',
      history: [
        { stage: 'offerMade', at: at(8, 21), byUserId: 'u1', byName: 'User' },
        { stage: 'submitted', at: at(6) },
        { stage: 'interviewed', at: null },
      ],
    },
  ],
}

describeOnEngines('rows of a requisition', bench => {
  type Row = Readonly<Record<string, unknown>>
  const all = ({ engine }: Warehouse, sql: string) => engine.rows<Row>(sql)
  const one = async (warehouse: Warehouse, sql: string) => (await all(warehouse, sql))[0]

  test('a requisition has the sums of its lists', async () => {
    const warehouse = await bench.warehouse()
    await readById(warehouse, of('requisitions'), [requisition, { id: 'r2', updatedAt: at(9) }])
    const figures = `first_received_at, first_submitted_at, first_accepted_at, last_accepted_at, first_offer_made_at,
      first_offer_accepted_at, agencies_count, offered_total, assigned_total, open_quantity`
    expect(
      await one(warehouse, `select ${figures} from star.fact_requisition where requisition_id = 'r1'`),
    ).toEqual({
      first_received_at: at(4),
      first_submitted_at: at(6),
      first_accepted_at: at(6),
      last_accepted_at: at(6),
      first_offer_made_at: at(8, 21),
      first_offer_accepted_at: null,
      agencies_count: expect.toSatisfy(n => Number(n) === 3),
      offered_total: expect.toSatisfy(n => Number(n) === 5),
      assigned_total: expect.toSatisfy(n => Number(n) === 3),
      open_quantity: '2.0000',
    })
    const none = await one(
      warehouse,
      `select ${figures} from star.fact_requisition where requisition_id = 'r2'`,
    )
    expect(new Set(Object.values(none ?? {}))).toEqual(new Set([null]))
  })

  test('its stages and agencies have their durations', async () => {
    const warehouse = await bench.warehouse()
    // Two versions of one record in a batch: neither may see the stages of the other.
    await readById(warehouse, of('requisitions'), [{ ...requisition, updatedAt: at(8) }, requisition])
    const stages = `select hours_in_stage as hours from star.fact_requisition_approval_stage order by stage`
    expect((await all(warehouse, stages)).map(row => row.hours)).toEqual(['24.0000', '60.0000', null])
    const agencies = `select submissions_count as n, rejected_count as rejected, approved_to_accepted_days as days,
      received_to_accepted_days as since from star.fact_requisition_agency order by agency_ordinal`
    const rows = (await all(warehouse, agencies)).map(row =>
      Object.values(row).map(value => value && Number(value)),
    )
    expect(rows).toEqual([
      [0, 0, 1.5, 1],
      [2, 1, null, null],
      [null, null, null, null],
    ])
    const steps = `select stage, days_in_stage as days from star.fact_stage_event order by event_ordinal`
    expect((await all(warehouse, steps)).map(({ stage, days }) => [stage, days && Number(days)])).toEqual([
      ['offerMade', null],
      ['submitted', 2.5],
      ['interviewed', null],
    ])
  })

  test('a person without an id is one contact, whose address is not in star', async () => {
    const warehouse = await bench.warehouse()
    await readById(warehouse, of('requisitions'), [requisition])
    const same = `select requestor_contact_id = approver_contact_id as same from star.fact_requisition`
    expect(await one(warehouse, same)).toEqual({ same: true })
    const contacts = `select c.is_inferred, p.name, lower(p.email) as email
      from star.fact_requisition r join star.dim_contact c on c.contact_id = r.requestor_contact_id
      join pii.contact p on p.contact_id = c.contact_id`
    expect(await all(warehouse, contacts)).toEqual([
      { is_inferred: true, name: 'Requestor', email: 'requestor@example.com' },
    ])
  })
})
