/** What a crosscheck asks, what it looks into, and the rows that it leaves. */
import { describe, expect, test } from 'vitest'
import { Zones } from '../../src/crosscheck/calibrate/zones.ts'
import { type CrosscheckRequest, compareFigures, type OurSide } from '../../src/crosscheck/crosscheck.ts'
import { listedSheet } from '../../src/crosscheck/explain/sheets.ts'
import { definitionDefaults } from '../../src/crosscheck/metrics/definition.ts'
import { type Grouping, groupingName, groupingOf } from '../../src/crosscheck/metrics/metric-query.ts'
import { explaining } from './explain/explaining.ts'
import { requisition } from './fill-cases.ts'
import { sheet } from './hours-cases.ts'
import { measureOf, namesOf, type Service, type ServiceParts, serviceOf, type World } from './in-memory.ts'

const world: World = {
  requisitions: [
    requisition('r1', [1, 2, 3, 5, 9]),
    requisition('r2', [2, 4, 4, 7, 40]),
    requisition('r3', [3]),
  ],
  timesheets: [
    sheet('t1'),
    sheet('t2', { netHours: 50 }),
    sheet('t3', { weekEnding: '2026-05-17T00:00:00.000Z' }),
  ],
}
const by = (text: string) => groupingOf(text) as Grouping

interface Setup extends ServiceParts {
  readonly here?: World
  readonly request?: Partial<CrosscheckRequest>
  readonly alive?: CrosscheckRequest['inForce']['alive']
  readonly groupings?: readonly string[]
  readonly service?: Service
}

async function crosschecked(setup: Setup = {}) {
  const { here = world, request, alive, groupings = ['all', 'project'], ...service } = setup
  const asker = setup.service ?? serviceOf(world, service)
  const { stored } = explaining({
    measure: measureOf(here),
    async sheetsById(ids) {
      const rows = here.timesheets.map(one => listedSheet(one as Record<string, unknown>, definitionDefaults))
      return new Map(
        rows
          .filter(({ id }) => ids.includes(id))
          .map(one => [one.id, { ...one, isDeleted: false, copies: 1 }]),
      )
    },
  })
  const our: OurSide = {
    ...{ stored, names: namesOf(world), watermark: async () => '2026-12-01T00:00:00.000Z' },
    zones: async () => new Zones(['UTC'], { timeToFill: [0], workersOverHours: [0] }),
  }
  const inForce = { definition: definitionDefaults, id: 'known', ...(alive && { alive }) }
  const found = await compareFigures(
    our,
    { asker, askedAt: '2026-11-02T03:00:00.000Z' },
    { groupings: groupings.map(by), range: {}, inForce, ...request },
  )
  return { ...found, asker, differing: found.rows.filter(({ verdict }) => verdict !== 'equal') }
}

test('both metrics are asked for by each grouping, in the range, and hours over a threshold', async () => {
  const { asker, compared, stopped } = await crosschecked({
    request: { range: { from: '2026-01-01', company: 'c1' } },
  })
  const shown = asker.asked.map(({ metric, grouping, ...rest }) => [metric, groupingName(grouping), rest])
  const range = { from: '2026-01-01', company: 'c1' }
  expect(shown).toEqual([
    ['timeToFill', 'all', range],
    ['timeToFill', 'project', range],
    ['workersOverHours', 'all', { ...range, threshold: 48 }],
    ['workersOverHours', 'project', { ...range, threshold: 48 }],
  ])
  expect(compared).toEqual([
    { metric: 'timeToFill', groupBy: 'all', groups: 1 },
    { metric: 'timeToFill', groupBy: 'project', groups: 3 },
    { metric: 'workersOverHours', groupBy: 'all', groups: 1 },
    { metric: 'workersOverHours', groupBy: 'project', groups: 3 },
  ])
  expect(stopped).toBeUndefined()
  const other = await crosschecked({ request: { threshold: 40 } })
  expect(other.asker.asked.map(({ threshold }) => threshold)).toEqual([undefined, undefined, 40, 40])
  expect(other.differing).toEqual([])
})

test('figures that all agree need nothing more, and have a row each', async () => {
  const { rows, differing, findings, isComplete, asker } = await crosschecked()
  expect([differing, findings, isComplete, asker.requests]).toEqual([[], [], true, 4])
  expect(rows).toHaveLength(4 * 11 + 4 * 7)
  expect(rows[0]).toEqual({
    ...{ metric: 'timeToFill', group_by: 'all', group_key: '', group_label: 'all' },
    ...{
      figure: 'rawCount',
      ours: 11,
      theirs: 11,
      difference: 0,
      verdict: 'equal',
      reason: null,
      records: null,
    },
  })
  expect(rows.find(row => row.group_by === 'project')).toMatchObject({
    group_key: 'r1',
    group_label: 'Project r1',
  })
})

test('what was asked before requests were used up is compared', async () => {
  const { compared, stopped } = await crosschecked({ limit: 1 })
  expect(compared).toEqual([{ metric: 'timeToFill', groupBy: 'all', groups: 1 }])
  expect(stopped).toBe('the requests are used')
})

test('an error of the service ends the crosscheck', async () => {
  const service = { ...serviceOf(world), ask: () => Promise.reject(new Error('refused')) }
  await expect(crosschecked({ service })).rejects.toEqual(new Error('refused'))
})

describe('a difference', () => {
  const changed = { ...world, timesheets: [sheet('t1', { netHours: 41 }), ...world.timesheets.slice(1)] }
  const list = () => world.timesheets as Record<string, unknown>[]

  test('of a record is looked into, and named in every figure that it changes', async () => {
    const { findings, differing, isComplete } = await crosschecked({ here: changed, list })
    expect(findings).toMatchObject([{ kind: 'differs', record: 'TS-t1', loss: { id: 't1' } }])
    expect(isComplete).toBe(true)
    expect(differing.map(row => `${row.group_key} ${row.figure} ${row.verdict}`)).toEqual([
      ' totalHours unexplained',
      ' averageWeeklyHours unexplained',
      ' maxWeeklyHours unexplained',
      't1 totalHours unexplained',
      't1 averageWeeklyHours unexplained',
      't1 maxWeeklyHours unexplained',
    ])
    for (const row of differing) expect(row.records).toBe('["TS-t1"]')
  })

  test('is not looked into to its end when requests are used up', async () => {
    const { findings, isComplete } = await crosschecked({ here: changed, list, limit: 5 })
    expect([isComplete, findings.map(({ kind }) => kind)]).toEqual([false, ['unknown']])
  })

  test('that another definition removes is explained by it, without looking for records', async () => {
    const { findings, differing, asker } = await crosschecked({ options: { quantiles: 'type6' } })
    expect(findings.map(({ sentence }) => sentence)).toEqual([
      'definition: quantiles type6 instead of type7 would agree; run muster crosscheck --calibrate',
    ])
    expect(asker.requests).toBe(4)
    expect(differing.length).toBeGreaterThan(0)
    expect(new Set(differing.map(({ verdict }) => verdict))).toEqual(new Set(['explained']))
  })

  test('that only an excluded definition removes is unexplained, and the definition is named', async () => {
    const alive = { quantiles: ['"type7"'], valueQuantiles: ['"type7"'], days: ['"fractional"'] }
    const { findings, differing } = await crosschecked({ options: { quantiles: 'type6' }, alive })
    expect(findings.at(-1)?.sentence).toMatch(
      /^definition: quantiles type6 .* but calibration had excluded it/,
    )
    expect(new Set(differing.map(({ verdict }) => verdict))).toEqual(new Set(['unexplained']))
  })

  test('that records explain leaves definitions alone that calibration excluded', async () => {
    const alive = { timesheetStatuses: ['["approved"]'] }
    const [first, ...rest] = world.timesheets
    const here = { ...world, timesheets: [{ ...first, status: 'pending' }, ...rest] }
    const there = { ...world, timesheets: [{ ...first, updatedAt: '2026-12-02T00:00:00.000Z' }, ...rest] }
    const service = serviceOf(there, { list: () => there.timesheets as Record<string, unknown>[] })
    const { findings, differing } = await crosschecked({ here, alive, service })
    expect(findings.map(({ kind, record }) => [kind, record])).toEqual([['newer', 'TS-t1']])
    expect(new Set(differing.map(({ verdict }) => verdict))).toEqual(new Set(['explained']))
  })

  test('that records explain in some groups only names a definition that calibration excluded', async () => {
    const many = Array.from({ length: 40 }, (_, index) => sheet(`x${index}`, { netHours: 48 }))
    const changed = { netHours: 41, updatedAt: '2026-12-02T00:00:00.000Z' }
    const here = { requisitions: [], timesheets: [...many, sheet('t1')] }
    const there = { requisitions: [], timesheets: [...many, sheet('t1', changed)] }
    const service = serviceOf(there, {
      options: { threshold: 'at' },
      list: () => there.timesheets as Record<string, unknown>[],
    })
    const alive = { threshold: ['"over"'] }
    const { findings, rows } = await crosschecked({ here, alive, service, groupings: ['project'] })
    expect(findings.map(({ kind }) => kind)).toEqual(['newer', 'unknown'])
    expect(findings[1]?.sentence).toMatch(/^definition: threshold at .* calibration had excluded it/)
    const own = rows.filter(({ group_key, verdict }) => group_key === 't1' && verdict !== 'equal')
    expect(own.length).toBeGreaterThan(0)
  })

  test('of a group that only the service has keeps its label as a key', async () => {
    const here = { ...world, timesheets: world.timesheets.slice(1) }
    const { rows, asker } = await crosschecked({ here, list, groupings: ['project'] })
    expect(asker.asked.filter(({ metric }) => metric === 'timeToFill')).toHaveLength(1)
    const own = rows.filter(row => row.group_key === 't1' && row.metric === 'workersOverHours')
    expect(own.map(({ ours }) => ours)).toEqual([null, 0, 0, 0, null, null, null])
    expect(own[0]).toMatchObject({ group_label: 'Project t1' })
  })
})

test('a group that only the service has goes by our key, or by its label where we cannot read its keys', async () => {
  const here = { ...world, timesheets: world.timesheets.slice(0, 2) }
  const keysOf = async (service: Service) => {
    const { rows } = await crosschecked({ here, service, groupings: ['week'] })
    return rows.filter(({ figure, ours }) => figure === 'workerWeeks' && ours === 0).map(row => row.group_key)
  }
  expect(await keysOf(serviceOf(world))).toEqual(['2026-05-11'])
  const service = serviceOf(world)
  const ask = service.ask.bind(service)
  service.ask = async (query, pages) => {
    const found = await ask(query, pages)
    const groups = found.groups.map(one => ({ ...one, group: { week: 7 } }))
    return { ...found, groups: groups.slice(0, 1) }
  }
  expect(await keysOf(service)).toEqual(['7'])
})

test('two groups that come to have one key stay apart', async () => {
  const service = serviceOf(world, { options: { 'week-key': 'firstDay' } })
  // The service names weeks by their first days, and the definition by ISO weeks.
  const { rows } = await crosschecked({ service, groupings: ['week'] })
  const keys = new Set(rows.filter(({ metric }) => metric === 'workersOverHours').map(row => row.group_key))
  expect([...keys].sort()).toEqual(['2026-05-04', '2026-05-04#2', '2026-05-11', '2026-05-11#2'])
})
