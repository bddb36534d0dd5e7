/** From groups that differ to the smallest ones that do, and from these to records. */
import { describe, expect, test } from 'vitest'
import type { ComparedGroup } from '../../../src/crosscheck/compare.ts'
import { differingCells, explain } from '../../../src/crosscheck/explain/explain.ts'
import { listedSheet } from '../../../src/crosscheck/explain/sheets.ts'
import type { ExplanationContext } from '../../../src/crosscheck/explain/stored-records.ts'
import { definitionDefaults } from '../../../src/crosscheck/metrics/definition.ts'
import {
  groupingName,
  type MetricFigures,
  type MetricName,
} from '../../../src/crosscheck/metrics/metric-query.ts'
import { sheet } from '../hours-cases.ts'
import { measureOf, serviceOf, type World } from '../in-memory.ts'
import { explaining, names } from './explaining.ts'

const requisition = (id: string, project: string, more: object = {}) => ({
  ...{ id, reference: `REQ-${id}`, status: 'filled', company: { id: 'c1', name: 'One' } },
  project: { id: project, name: project },
  ...{ approvedDate: '2026-05-01T00:00:00.000Z', updatedAt: '2026-05-02T00:00:00.000Z' },
  agencies: [{ id: 'a1', name: 'Hands', dateAccepted: '2026-05-06T00:00:00.000Z' }],
  ...more,
})
const group = (
  groupBy: string,
  keys: ComparedGroup['keys'],
  sides: Partial<ComparedGroup> = {},
): ComparedGroup => ({
  ...{ groupBy, label: groupBy, keys, group: {}, ours: { rawCount: 1 }, theirs: { rawCount: 2 } },
  ...sides,
})
const world = (requisitions: readonly object[], timesheets: readonly object[] = []): World => ({
  requisitions,
  timesheets,
})
const projects = (count: number) =>
  Array.from({ length: count }, (_, index) => requisition(`r${index}`, `p${index}`))

describe('the smallest groups that differ', () => {
  async function cellsOf(
    sides: { here: World; there: World },
    groups: readonly ComparedGroup[],
    parts: Partial<ExplanationContext> & { limit?: number; rowsPerPage?: number } = {},
  ) {
    const { limit, rowsPerPage, ...rest } = parts
    const asker = serviceOf(sides.there, {
      ...(limit !== undefined && { limit }),
      ...(rowsPerPage !== undefined && { rowsPerPage }),
    })
    const found = await differingCells(
      explaining({ measure: measureOf(sides.here) }, { asker, ...rest }),
      'timeToFill',
      groups,
    )
    return { ...found, asked: asker.asked }
  }

  test('are of one company, project, agency, month and week', async () => {
    const [one, two] = [requisition('r1', 'p1'), requisition('r2', 'p2')]
    const { cells, isComplete, asked } = await cellsOf({ here: world([one]), there: world([one, two]) }, [
      group('all', {}),
    ])
    expect(cells).toEqual([
      {
        keys: { company: 'c1', project: 'p2', agency: 'a1', month: '2026-05', week: '2026-05-04' },
        ...{ ours: undefined, theirs: expect.objectContaining({ rawCount: 1 }) },
      },
    ])
    expect([isComplete, asked.map(({ grouping }) => groupingName(grouping))]).toEqual([
      true,
      ['company,project,agency,month,week'],
    ])
  })

  test('are asked for within the range', async () => {
    const sides = { here: world([]), there: world([requisition('r1', 'p1')]) }
    const { cells, asked } = await cellsOf(sides, [group('all', {})], { range: { from: '2026-06-01' } })
    expect([cells, asked[0]?.from]).toEqual([[], '2026-06-01'])
    expect(asked[0]).not.toHaveProperty('project')
  })

  describe('are asked for project by project', () => {
    const asked = async (own: number, groups: readonly ComparedGroup[]) =>
      (await cellsOf({ here: world(projects(own)), there: world([]) }, groups)).asked.map(
        ({ project }) => project ?? 'all',
      )
    const byProject = (...ids: readonly (string | undefined)[]) =>
      ids.map(id => group('project', id === undefined ? undefined : { project: id }))

    test.each([
      ['when everything takes more pages', 201, byProject('p1'), ['p1']],
      ['unless these take as many', 201, byProject('p1', 'p2'), ['all']],
      ['unless everything is on one page', 200, byProject('p1'), ['all']],
      ['when three pages are more than two', 401, byProject('p1', 'p2'), ['p1', 'p2']],
      ['unless no project differs', 401, [group('all', {}), group('week', { project: 'p1' })], ['all']],
      [
        'unless the groups of a project that differ are smaller',
        401,
        [group('week', { project: 'p1' })],
        ['all'],
      ],
      ['unless only the service has one of them', 401, byProject('p1', undefined), ['all']],
      ['unless one of them is none', 401, byProject('p1', '-1'), ['all']],
    ] as const)('%s', async (...[, own, groups, expected]) => {
      expect(await asked(own, groups)).toEqual(expected)
    })

    test('unless one of them takes several pages itself', async () => {
      const agencies = Array.from({ length: 250 }, (_, index) => ({
        ...{ id: `b${index}`, name: 'B', dateAccepted: '2026-05-06T00:00:00.000Z' },
      }))
      const here = world([...projects(151), requisition('large', 'p0', { agencies })])
      const { asked } = await cellsOf({ here, there: world([]) }, byProject('p0', 'p1'))
      expect(asked.map(({ project }) => project)).toEqual([undefined])
    })

    test('and compared with what we have of the project', async () => {
      const here = world(projects(201))
      const { cells } = await cellsOf({ here, there: world([]) }, byProject('p1'))
      expect(cells.map(({ keys }) => keys.project)).toEqual(['p1'])
    })
  })

  test('are not all known when requests are used up, or pages were left out', async () => {
    const sides = { here: world([]), there: world([requisition('r1', 'p1'), requisition('r2', 'p2')]) }
    expect(await cellsOf(sides, [group('all', {})], { limit: 0 })).toMatchObject({
      cells: [],
      isComplete: false,
    })
    const partly = await cellsOf(sides, [group('all', {})], { limit: 1, rowsPerPage: 1 })
    expect([partly.cells.length, partly.isComplete]).toEqual([1, false])
    const here = world(projects(401))
    const two = await cellsOf(
      { here, there: here },
      ['p1', 'p2'].map(id => group('project', { project: id })),
      { limit: 1 },
    )
    expect([two.asked.length, two.isComplete]).toEqual([1, false])
  })

  test('are not known when the service fails', async () => {
    const asker = { ...serviceOf(world([])), ask: () => Promise.reject(new Error('refused')) }
    await expect(differingCells(explaining({}, { asker }), 'timeToFill', [])).rejects.toEqual(
      new Error('refused'),
    )
  })
})

describe('explaining', () => {
  const searched = (id: string) => sheet(id, { project: { id: 'p1', name: 'Bridge' } })

  /** A service whose smallest groups agree; the list of a place shows these timesheets. */
  function setup(lists: readonly (readonly object[])[], limit = 99) {
    let next = 0
    const asker = serviceOf(world([]), {
      limit,
      list: () => (lists[next++] ?? []) as Record<string, unknown>[],
    })
    return { asker, with: explaining({}, { asker, watermark: '2026-06-01T00:00:00.000Z', names }) }
  }
  const hoursGroup = (keys: ComparedGroup['keys'], workerWeeks: number) =>
    group('week', keys, { ours: { workerWeeks }, theirs: { workerWeeks } })
  const run = (
    parts: ReturnType<typeof setup>,
    groups: readonly ComparedGroup[],
    metric: MetricName = 'workersOverHours',
  ) => explain(parts.with, metric, groups)

  test('without a group is nothing more', async () => {
    expect(await run(setup([]), [])).toEqual({ findings: [], isComplete: true })
  })

  test('looks into larger groups where the smallest agree, the smallest of them first', async () => {
    const parts = setup([[searched('t1')]])
    const groups = [hoursGroup({}, 9), hoursGroup({ project: 'p1' }, 3), hoursGroup({ project: 'p2' }, 5)]
    const found = await run(parts, groups)
    expect(found.findings.map(({ record }) => record)).toEqual(['TS-t1'])
    expect(found.isComplete).toBe(true)
    expect(parts.asker.lists.map(({ query }) => query.project)).toEqual(['p1', 'p2'])
  })

  test('leaves out groups that a finding concerns', async () => {
    const parts = setup([[searched('t1')]])
    await run(parts, [hoursGroup({}, 9), hoursGroup({ project: 'p1' }, 3)])
    expect(parts.asker.lists).toHaveLength(1)
  })

  test('stops at a larger group of which nothing is found', async () => {
    const parts = setup([[], [searched('t1')]])
    const found = await run(parts, [hoursGroup({ project: 'p1' }, 3), hoursGroup({ project: 'p2' }, 5)])
    expect([found.findings, parts.asker.lists.length]).toEqual([[], 1])
  })

  test('looks into five larger groups at most', async () => {
    const ids = ['x1', 'x2', 'x3', 'x4', 'x5', 'x6', 'x7']
    const parts = setup(ids.map(id => [sheet(id)]))
    const found = await run(
      parts,
      ids.map((id, index) => hoursGroup({ project: id }, index)),
    )
    expect([found.findings.length, parts.asker.lists.length]).toEqual([5, 5])
  })

  test('says that not all was looked into when requests are used up', async () => {
    const found = await run(setup([[searched('t1')]], 0), [hoursGroup({}, 9)])
    expect(found.isComplete).toBe(false)
    expect(await run(setup([], 0), [])).toEqual({ findings: found.findings, isComplete: false })
    expect(found.findings).toEqual([
      {
        ...{ metric: 'workersOverHours', kind: 'unknown', record: undefined, ours: [] },
        theirs: [{ keys: {}, amount: 0 }],
        sentence: 'not all differences were looked into, as the requests are used: raise --max-requests',
      },
    ])
    const later = await run(setup([[searched('t1')], [sheet('t2')]], 2), [
      hoursGroup({ project: 'p1' }, 3),
      hoursGroup({ project: 'p2' }, 5),
    ])
    expect([later.isComplete, later.findings.map(({ record }) => record)]).toEqual([
      false,
      ['TS-t1', undefined],
    ])
  })

  test('looks into the records of the smallest groups that differ', async () => {
    const there = world([], [searched('t1')])
    const asker = serviceOf(there, { list: () => [searched('t1')] })
    const own = listedSheet(searched('t1') as Record<string, unknown>, definitionDefaults)
    const stored = { ...own, hours: 39, isDeleted: false, copies: 1 }
    const found = await explain(
      explaining(
        { sheetsById: async () => new Map([['t1', stored]]) },
        { asker, watermark: '2026-06-01T00:00:00.000Z' },
      ),
      'workersOverHours',
      [group('all', {}, { ours: { workerWeeks: 1 } as MetricFigures })],
    )
    expect(found.findings.map(({ sentence }) => sentence)).toEqual([
      'timesheet TS-t1: hours 39 here, 40 there, in the same version',
    ])
    expect(asker.lists.map(({ query }) => [query.project, query.from])).toEqual([['p1', '2026-05-01']])
  })

  test('reads no requisition that was lost while every smallest group agrees', async () => {
    const parts = setup([])
    const stored = { ...parts.with.stored, lostRequisitions: async () => ['r1'] }
    const found = await explain({ ...parts.with, stored }, 'timeToFill', [])
    expect([found.isComplete, parts.asker.reads]).toEqual([true, []])
  })

  test('looks for requisitions where days differ', async () => {
    const asker = serviceOf(world([requisition('r1', 'p1')]))
    const found = await explain(explaining({}, { asker }), 'timeToFill', [group('all', {})])
    expect(found.findings).toMatchObject([{ metric: 'timeToFill', kind: 'uncovered' }])
  })

  test('goes by the size that the service has, else ours', async () => {
    const parts = setup([])
    const only = (keys: object, workerWeeks: number) =>
      group('week', keys, { ours: { workerWeeks }, theirs: undefined })
    await run(parts, [hoursGroup({ project: 'p1' }, 4), only({ project: 'p2' }, 3)])
    expect(parts.asker.lists.map(({ query }) => query.project)).toEqual(['p2'])
    const fewer = group('week', { project: 'p1' }, { ours: { workerWeeks: 9 }, theirs: { workerWeeks: 4 } })
    for (const groups of [
      [fewer, only({ project: 'p2' }, 5)],
      [only({ project: 'p2' }, 5), fewer],
    ]) {
      const other = setup([])
      await run(other, groups)
      expect(other.asker.lists.map(({ query }) => query.project)).toEqual(['p1'])
    }
  })
})
