/** Timesheets and requisitions as they are stored, with the signs that a row of them was lost or changed. */
import { beforeAll, describe, expect, test } from 'vitest'
import { storedRecords } from '../../../src/crosscheck/explain/stored-records.ts'
import { resourceOf, rulesWarehouse } from '../../support/rules-warehouse.ts'
import { requisition } from '../fill-cases.ts'
import { sheet } from '../hours-cases.ts'

const warehouse = rulesWarehouse()
const stored = () => storedRecords(warehouse.engine)
const netHours = { hoursField: 'netHours' } as const

const log = (id: string, total: number) => ({ id, day: '2026-05-08T00:00:00.000Z', hours: { total } })
const place = (project: string, agency = 'a1') => ({
  project: { id: project, name: project },
  agency: { id: agency, name: agency },
})

beforeAll(async () => {
  await warehouse.load(resourceOf('timesheets'), [
    sheet('t1', { ...place('p1'), timelogs: [log('l1', 7.5), log('l2', 8)] }),
    sheet('t2', { ...place('p1', 'a2'), weekEnding: '2026-05-17T23:59:59.999Z' }),
    sheet('t3', { ...place('p2'), weekEnding: '2026-05-18T00:00:00.000Z' }),
    sheet('t4', { ...place('p2'), weekEnding: null, netHours: null, status: null }),
    sheet('gone', place('p1')),
    sheet('twice', place('p3')),
  ])
  const ids = [
    'whole',
    'odd-count',
    'odd-first',
    'odd-last',
    'odd-days',
    'odd-approval',
    'odd-company',
    'odd-project',
    'odd-deleted',
    'near',
    'none',
    'doubled',
    'deleted',
    'lost-days',
  ]
  await warehouse.load(
    resourceOf('requisitions'),
    ids.map(id => requisition(id, id === 'none' ? [] : [1, 3])),
  )
  const root = (id: string, set: string) =>
    `update star.fact_requisition set ${set} where requisition_id = '${id}'`
  const party = (id: string, set: string) =>
    `update star.fact_requisition_agency set ${set} where requisition_id = '${id}' and agency_id = 'a1'`
  for (const statement of [
    `update star.fact_timesheet set is_deleted = true where timesheet_id = 'gone'`,
    `update star.fact_timelog set is_deleted = true where timelog_id = 'l2'`,
    `insert into star.fact_timesheet select * from star.fact_timesheet where timesheet_id = 'twice'`,
    root('odd-count', 'agencies_count = 3'),
    root('odd-first', `first_accepted_at = first_accepted_at + interval '1 second'`),
    root('odd-last', `last_accepted_at = last_accepted_at + interval '1 second'`),
    party('odd-days', 'approved_to_accepted_days = approved_to_accepted_days + 0.0011'),
    party('near', 'approved_to_accepted_days = approved_to_accepted_days + 0.0009'),
    party('lost-days', 'approved_to_accepted_days = null'),
    party('odd-approval', `requisition_approved_at = requisition_approved_at + interval '1 second'`),
    party('odd-company', `company_id = 'c9'`),
    party('odd-project', `project_id = 'p9'`),
    party('odd-deleted', 'is_deleted = true'),
    `insert into star.fact_requisition select * from star.fact_requisition where requisition_id = 'doubled'`,
    root('deleted', 'is_deleted = true'),
    `update star.fact_requisition_agency set is_deleted = true where requisition_id = 'deleted'`,
  ])
    await warehouse.engine.run(statement)
})

describe('timesheets', () => {
  const look = { from: '2026-05-10', to: '2026-05-17' }

  test('of a look are those of its days, both included, and of its place, without deleted ones', async () => {
    const ids = async (parts: object) => [
      ...(await stored().sheetsIn({ ...look, ...parts }, netHours)).keys(),
    ]
    expect(await ids({})).toEqual(['t1', 't2', 'twice'])
    expect(await ids({ to: '2026-05-18' })).toEqual(['t1', 't2', 't3', 'twice'])
    expect(await ids({ from: '2026-05-11' })).toEqual(['t2'])
    expect(await ids({ project: 'p1' })).toEqual(['t1', 't2'])
    expect(await ids({ project: 'p1', agency: 'a2' })).toEqual(['t2'])
    expect(await ids({ company: 'c9' })).toEqual([])
    expect(await stored().countSheets({ ...look, project: 'p1' })).toBe(2)
  })

  test('by id are found wherever they are, also deleted ones, with their copies', async () => {
    const found = await stored().sheetsById(['t1', 't4', 'gone', 'twice', 'unknown'], netHours)
    expect([...found.values()].map(({ id, copies, isDeleted }) => [id, copies, isDeleted])).toEqual([
      ['gone', 1, true],
      ['t1', 1, false],
      ['t4', 1, false],
      ['twice', 2, false],
    ])
    expect(found.get('t1')).toMatchObject({
      ...{
        id: 't1',
        reference: 'TS-t1',
        status: 'approved',
        hours: 40,
        weekEnding: Date.parse('2026-05-10'),
      },
      ...{ worker: 'w1', company: 'c1', project: 'p1', agency: 'a1' },
      ...{ createdAt: '2026-01-02T00:00:00.000Z', updatedAt: '2026-01-02T00:00:00.000Z' },
    })
    expect(found.get('t4')).toMatchObject({ hours: null, weekEnding: null, status: null })
  })

  test('have the hours of their timelogs where these count, without deleted ones', async () => {
    const found = await stored().sheetsById(['t1', 't2'], { hoursField: 'timelogHours' })
    expect([found.get('t1')?.hours, found.get('t2')?.hours]).toEqual([7.5, 0])
  })

  test('of a thousand ids and more are found too', async () => {
    const ids = Array.from({ length: 1001 }, (_, index) => `x${index}`)
    expect(
      (await stored().sheetsById([...ids.slice(0, 999), 't1', 't2', ...ids.slice(999)], netHours)).size,
    ).toBe(2)
    expect((await stored().sheetsById([], netHours)).size).toBe(0)
  })
})

describe('requisitions', () => {
  test('are odd when their rows contradict each other', async () => {
    const found = [...(await stored().requisitions(undefined)).values()]
    const odd = found.filter(({ isOdd }) => isOdd).map(({ id }) => id)
    expect(odd).toEqual([
      'doubled',
      'lost-days',
      'odd-approval',
      'odd-company',
      'odd-count',
      'odd-days',
      'odd-deleted',
      'odd-first',
      'odd-last',
      'odd-project',
    ])
  })

  test('have the agencies that accepted, as often as they are stored', async () => {
    const found = await stored().requisitions(undefined)
    const answers = (id: string) => found.get(id)?.answers.map(({ agency }) => agency)
    expect(found.get('whole')).toMatchObject({
      ...{ id: 'whole', reference: 'REQ-whole', status: 'filled', company: 'c1', project: 'whole' },
      ...{ approvedAt: Date.parse('2026-01-01'), updatedAt: '2026-03-01T00:00:00.000Z' },
      answers: [
        { agency: 'a0', acceptedAt: Date.parse('2026-01-02') },
        { agency: 'a1', acceptedAt: Date.parse('2026-01-04') },
      ],
      ...{ isDeleted: false, copies: 1, hasAgencies: true },
    })
    expect(answers('doubled')).toEqual(['a0', 'a1', 'a0', 'a1'])
    expect(found.get('doubled')?.copies).toBe(2)
    expect(answers('odd-deleted')).toEqual(['a0'])
    expect([answers('deleted'), found.get('deleted')?.isDeleted]).toEqual([[], true])
    expect([answers('none'), found.get('none')?.hasAgencies]).toEqual([[], false])
  })

  test('may be those of some projects', async () => {
    const ids = async (projects: readonly string[]) => [...(await stored().requisitions(projects)).keys()]
    expect(await ids(['whole', 'near'])).toEqual(['near', 'whole'])
    expect(await ids([])).toEqual([])
  })

  test('that count agencies and lost all their rows have some', async () => {
    await warehouse.engine.run(`delete from star.fact_requisition_agency where requisition_id = 'near'`)
    const found = await stored().requisitions(['near'])
    expect(found.get('near')).toMatchObject({ hasAgencies: true, isOdd: true, answers: [] })
  })
})
