/** How many figures of the service's answers a definition explains. */
import { describe, expect, test } from 'vitest'
import { AnswerSet, type Aspect } from '../../../src/crosscheck/calibrate/answer-set.ts'
import { Zones } from '../../../src/crosscheck/calibrate/zones.ts'
import { definitionDefaults, type MetricDefinition } from '../../../src/crosscheck/metrics/definition.ts'
import type { GroupKey, MetricFigures, MetricName } from '../../../src/crosscheck/metrics/metric-query.ts'
import type { GroupMeasure, OurGroup } from '../../../src/crosscheck/metrics/our-metrics.ts'
import type { MetricAnswer } from '../../../src/crosscheck/metrics/their-metrics.ts'

type ByProject = Readonly<Record<string, MetricFigures>>

const answer = (
  figures: ByProject,
  parts: { isComplete?: boolean; metric?: MetricName; grouping?: GroupKey[]; from?: string } = {},
): MetricAnswer => {
  const { isComplete = true, metric = 'timeToFill', grouping = ['project'], from } = parts
  return {
    query: { metric, grouping, ...(from !== undefined && { from }) },
    groups: Object.entries(figures).map(([project, own]) => ({
      ...{ groupBy: 'project', group: { project }, figures: own, hoursField: undefined },
    })),
    isComplete,
  }
}

/** Our figures by what the definition says of bounds; notes what is computed. */
function ourSide(figuresOf: (definition: MetricDefinition) => ByProject) {
  const computed: { groupings: number; definitions: number }[] = []
  const measure: GroupMeasure = async ({ groupings }, definitions) => {
    computed.push({ groupings: groupings.length, definitions: definitions.length })
    return definitions.map(definition =>
      Object.entries(figuresOf(definition)).map(
        ([project, figures]): OurGroup => ({
          groupBy: 'project',
          groupKey: project,
          keys: { project },
          figures,
        }),
      ),
    )
  }
  const names = { company: new Map(), project: new Map(), agency: new Map() }
  const zones = new Zones(['UTC', 'Europe/London'], { timeToFill: [0], workersOverHours: [0] })
  return { computed, set: new AnswerSet({ measure, names, zones }) }
}

const define = (parts: Partial<MetricDefinition>): MetricDefinition => ({ ...definitionDefaults, ...parts })

async function score(
  theirs: ByProject,
  ours: ByProject,
  aspect: Partial<Aspect> & { isComplete?: boolean } = {},
) {
  const { isComplete = true, ...rest } = aspect
  const { set } = ourSide(() => ours)
  set.add(answer(theirs, { isComplete }))
  const [first] = await set.scores([definitionDefaults], { figures: ['rawCount', 'lower'], ...rest })
  return first
}

describe('a score', () => {
  const of = (rawCount: number | null, lower: number | null = 0) => ({ rawCount, lower })

  test.each([
    ['figures that are the same agree', { p: of(3, 1) }, { p: of(3, 1) }, { agree: 2, of: 2, excess: 0 }],
    ['a millionth apart too', { p: of(3, 1) }, { p: of(3, 1.000001) }, { agree: 2, of: 2, excess: 0 }],
    ['two millionths apart do not', { p: of(3, 1) }, { p: of(3, 1.000002) }, { agree: 1, of: 2, excess: 0 }],
    ['two that are unknown agree', { p: of(3, null) }, { p: of(3, null) }, { agree: 2, of: 2, excess: 0 }],
    ['one that is unknown does not', { p: of(3, null) }, { p: of(3, 0) }, { agree: 1, of: 2, excess: 0 }],
    ['nor on the other side', { p: of(3, 0) }, { p: of(3, null) }, { agree: 1, of: 2, excess: 0 }],
    [
      'a group that only the service has agrees in none',
      { p: of(3), q: of(1) },
      { p: of(3) },
      { agree: 2, of: 4, excess: 0 },
    ],
    [
      'a group that only we have counts against',
      { p: of(3) },
      { p: of(3), q: of(1) },
      { agree: 1, of: 2, excess: 1 },
    ],
    ['more records here are an excess', { p: of(3) }, { p: of(4) }, { agree: 1, of: 2, excess: 1 }],
    ['fewer are none', { p: of(3) }, { p: of(2) }, { agree: 1, of: 2, excess: 0 }],
    ['no group on either side is an agreement', {}, {}, { agree: 1, of: 1, excess: 0 }],
    ['no group there and one here is none', {}, { p: of(1) }, { agree: -1, of: 1, excess: 1 }],
  ] as const)('%s', async (...[, theirs, ours, expected]) => {
    expect(await score(theirs, ours)).toEqual(expected)
  })

  test('of an answer that was not read to its end leaves out groups that only we have', async () => {
    expect(await score({ p: of(3) }, { p: of(3), q: of(1) }, { isComplete: false })).toEqual({
      agree: 2,
      of: 2,
      excess: 0,
    })
  })

  test('may be loose: days to a hundredth, counts exactly', async () => {
    const loose = (ours: MetricFigures) => score({ p: of(3, 1) }, { p: ours }, { isLoose: true })
    expect(await loose(of(3, 1.01))).toMatchObject({ agree: 2 })
    expect(await loose(of(3, 1.0101))).toMatchObject({ agree: 1 })
    expect(await loose(of(3.01, 1))).toMatchObject({ agree: 1 })
  })

  test('may be of groups with as many records on both sides', async () => {
    const theirs = { p: of(3, 1), q: of(5, 2) }
    expect(await score(theirs, { p: of(3, 1), q: of(4, 2) }, { onlyEqualCounts: true })).toMatchObject({
      agree: 2,
      of: 2,
    })
  })

  test('may be of some groups', async () => {
    const where = ({ rawCount }: MetricFigures) => rawCount === 1
    expect(await score({ p: of(3), q: of(1) }, { p: of(3), q: of(1) }, { where })).toMatchObject({
      agree: 2,
      of: 2,
    })
  })

  test('counts weeks where there are no acceptances', async () => {
    const weeks = (workerWeeks: number) => ({ workerWeeks })
    expect(await score({ p: weeks(3) }, { p: weeks(4) }, { figures: ['workerWeeks'] })).toMatchObject({
      excess: 1,
    })
    expect(await score({ p: {} }, { p: {} }, { figures: ['workerWeeks'] })).toMatchObject({ excess: 0 })
  })
})

describe('answers', () => {
  const one = { p: { rawCount: 1 } }
  const figures = ['rawCount']
  const of = async (aspect: Partial<Aspect>) => {
    const { set } = ourSide(() => one)
    set.add(answer(one))
    set.add(answer(one, { metric: 'workersOverHours' }))
    set.add(answer(one, { grouping: ['project'], from: '2026-01-01' }))
    set.add(answer(one, { grouping: ['week'] }))
    const [first] = await set.scores([definitionDefaults], { figures, ...aspect })
    return first?.of
  }

  test.each([
    [{}, 4],
    [{ metric: 'timeToFill' }, 3],
    [{ metric: 'workersOverHours' }, 1],
    [{ groupings: ['project'] }, 3],
    [{ groupings: ['week', 'month'] }, 1],
    [{ groupings: ['month'] }, 0],
    [{ since: 1 }, 3],
    [{ since: 4 }, 0],
    [{ since: 1, metric: 'timeToFill', groupings: ['project'] }, 1],
  ] as const)('%o concerns %i', async (aspect, count) => {
    expect(await of(aspect)).toBe(count)
  })
})

describe('computing', () => {
  const one = { p: { rawCount: 1 } }

  test('is once for each range and definition, with all groupings of the range', async () => {
    const { set, computed } = ourSide(() => one)
    for (const parts of [
      {},
      { grouping: ['week'] },
      { grouping: ['project'] },
      { from: '2026-01-01' },
    ] as const)
      set.add(answer(one, parts as Parameters<typeof answer>[1]))
    const definitions = [define({}), define({ bounds: 'exclusive' }), define({ refKey: 'id' })]
    const scores = await set.scores(definitions, { figures: ['rawCount'] })
    expect(scores).toHaveLength(3)
    // A shape of keys is no column of the SQL.
    expect(computed).toEqual([
      { groupings: 2, definitions: 2 },
      { groupings: 1, definitions: 2 },
    ])
    await set.scores(definitions, { figures: ['rawCount'] })
    expect(computed).toHaveLength(2)
    await set.scores([define({ days: 'ceil' })], { figures: ['rawCount'] })
    expect(computed.slice(2)).toEqual([
      { groupings: 2, definitions: 1 },
      { groupings: 1, definitions: 1 },
    ])
  })

  test('is at most of 24 definitions together', async () => {
    const { set, computed } = ourSide(() => one)
    set.add(answer(one))
    await set.scores(
      Array.from({ length: 25 }, (_, minForRule) => define({ minForRule })),
      { figures: ['rawCount'] },
    )
    expect(computed.map(({ definitions }) => definitions)).toEqual([24, 1])
  })

  test('separates definitions of the first and of the last days only where a range has them', async () => {
    const of = async (parts: { from?: string; to?: string }) => {
      const { set, computed } = ourSide(() => one)
      const asked = answer(one)
      set.add({ ...asked, query: { ...asked.query, ...parts } })
      await set.scores([define({}), define({ from: 'exclusive' }), define({ to: 'exclusive' })], {
        figures: ['rawCount'],
      })
      return computed.map(({ definitions }) => definitions)
    }
    expect(await of({})).toEqual([1])
    expect(await of({ from: '2026-01-01' })).toEqual([2])
    expect(await of({ to: '2026-01-01' })).toEqual([2])
    expect(await of({ from: '2026-01-01', to: '2026-01-01' })).toEqual([3])
  })

  test('is once for zones that show the same days', async () => {
    const { set, computed } = ourSide(() => one)
    set.add(answer(one))
    const scores = await set.scores([define({}), define({ zone: 'Europe/London' })], {
      figures: ['rawCount'],
    })
    expect(scores.map(({ agree }) => agree)).toEqual([1, 1])
    expect(computed).toEqual([{ groupings: 1, definitions: 1 }])
  })

  test('gives each definition its own score', async () => {
    const { set } = ourSide(({ bounds }) => ({ p: { rawCount: bounds === 'exclusive' ? 1 : 2 } }))
    set.add(answer(one))
    const scores = await set.scores([define({}), define({ bounds: 'exclusive' }), define({})], {
      figures: ['rawCount'],
    })
    expect(scores.map(({ agree }) => agree)).toEqual([0, 1, 0])
  })
})
