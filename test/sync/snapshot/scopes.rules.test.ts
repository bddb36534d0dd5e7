/** In which scopes a snapshot is read, what each asks for and owns, and which of them are due. */
import { describe, expect, test } from 'vitest'
import { freshScan, openScan } from '../../../src/state/scans/scans.ts'
import {
  dueScopes,
  pathOf,
  type ScopeContext,
  type SnapshotScope,
  scopesOf,
} from '../../../src/sync/snapshot/scopes.ts'
import { resourceOf, rulesWarehouse } from '../../support/rules-warehouse.ts'
import { virtualClock } from '../../support/virtual-clock.ts'
import { rulesTasks, starRows } from '../rules-task.ts'

const warehouse = rulesWarehouse()
rulesTasks(warehouse, 'dim_project')
const companies = [
  { id: 'c1', name: 'One' },
  { id: 'c2', name: 'Two' },
]
const question = (name: string, key: object = { companies }): ScopeContext => ({
  resource: resourceOf(name),
  sync: { engine: warehouse.engine, clock: virtualClock('2026-05-20T10:00:00.000Z'), key },
})
const projects = (ids: readonly string[], parts: object = {}, columns = {}) =>
  starRows(
    warehouse,
    { resource: resourceOf('projects'), ids },
    { ...parts, columns: { company_id: `'c1'`, ...columns } },
  )

describe('the scopes', () => {
  test('of everything that the key reads are one', async () => {
    expect(await scopesOf(question('access-rules'))).toEqual([
      { name: 'key', columns: {}, query: {}, extent: {} },
    ])
  })

  test('of companies are one for each', async () => {
    expect(await scopesOf(question('user-assignments'))).toEqual(
      ['c1', 'c2'].map(id => ({
        ...{
          name: id,
          columns: { company_id: id },
          query: {},
          company: id,
          extent: { company_id: `= '${id}'` },
        },
      })),
    )
  })

  test.each(['user-assignments', 'competency-matrix', 'metric-rows'])(
    'of a key without companies are none: %s',
    async name => {
      expect(await scopesOf(question(name, {}))).toEqual([])
    },
  )

  test('of projects are the company, read each time, and each of its projects, read weekly', async () => {
    await projects(['p2', 'p1'])
    await projects(['gone'], { isDeleted: true })
    await projects(['inferred'], {}, { is_inferred: 'true' })
    await projects(['-1'])
    await projects(['others'], {}, { company_id: `'c2'` })
    const scopes = await scopesOf(question('competency-matrix'))
    const extent = (company: string, project: string) => ({
      company_id: `= '${company}'`,
      project_id: `= '${project}'`,
    })
    expect(scopes.slice(0, 3)).toEqual([
      {
        name: 'c1',
        columns: { company_id: 'c1', project_id: '-1' },
        query: {},
        company: 'c1',
        extent: extent('c1', '-1'),
      },
      ...['p1', 'p2'].map(project => ({
        ...{
          name: `c1 ${project}`,
          columns: { company_id: 'c1', project_id: project },
          query: { projectId: project },
        },
        ...{ company: 'c1', refreshDays: 7, extent: extent('c1', project) },
      })),
    ])
    expect(scopes.slice(3).map(({ name }) => name)).toEqual(['c2', 'c2 others'])
  })

  test('of parts of a company meet at a day three months ago, and ask for two days more than they keep', async () => {
    const scopes = await scopesOf(question('metric-rows'))
    const base = (company: string) => ({ columns: { company_id: company }, company })
    const extent = (company: string, condition: string) => ({
      company_id: `= '${company}'`,
      requisition_created_date: `${condition} date '2026-02-01'`,
    })
    expect(scopes).toEqual([
      ...['c1', 'c2'].map(id => ({
        ...{ ...base(id), name: `${id} since 2026-02-01`, query: { company: id, from: '2026-01-30' } },
        extent: extent(id, '>='),
      })),
      ...['c1', 'c2'].map(id => ({
        ...{ ...base(id), name: `${id} before 2026-02-01`, query: { company: id, to: '2026-02-03' } },
        ...{ refreshDays: 7, extent: extent(id, '<') },
      })),
    ])
  })
})

test('the company is in the path of a scope, escaped', () => {
  const scope = { name: '', columns: {}, query: {}, extent: {} } as SnapshotScope
  const path = (company: string) => pathOf({ path: '/companies/{company}/x' }, { ...scope, company })
  expect([path('c1'), path('a/$&')]).toEqual(['/companies/c1/x', '/companies/a%2F%24%26/x'])
  expect(pathOf({ path: '/companies/{company}/x' }, scope)).toBe('/companies//x')
})

describe('a scope is due', () => {
  const read = (scope: string, at: string) =>
    openScan(
      warehouse.engine,
      freshScan({
        ...{ scan_id: scope, resource: 'competency-matrix', kind: 'snapshot', run_id: 'before', scope },
        ...{ state: 'accepted', started_at: at, accepted_at: at },
      }),
    )

  test.each([
    ['when it was never read', undefined, true],
    ['a week after it was read', '2026-05-13T23:00:00.000Z', true],
    ['not six days after it was read', '2026-05-14T00:00:00.000Z', false],
    ['not when it was just read', '2026-05-20T10:00:00.000Z', false],
    ['when it was read in the future, by a wrong clock', '2026-05-20T10:00:00.001Z', true],
  ])('%s', async (...[, at, isDue]) => {
    await projects(['p1'])
    await read('c1', '2026-05-20T10:00:00.000Z')
    if (at !== undefined) await read('c1 p1', at)
    const due = (await dueScopes(question('competency-matrix'))).map(({ name }) => name)
    expect(due).toEqual(isDue ? ['c1', 'c1 p1', 'c2'] : ['c1', 'c2'])
  })
})
