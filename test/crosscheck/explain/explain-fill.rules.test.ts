/** The requisitions behind a difference in time to fill: which are read again, and what unknown ones account for. */
import { describe, expect, test } from 'vitest'
import { NotFound } from '../../../src/api/client/errors.ts'
import { explainFill } from '../../../src/crosscheck/explain/explain-fill.ts'
import type { DifferingCell } from '../../../src/crosscheck/explain/finding.ts'
import { type StoredRequisition, servedRequisition } from '../../../src/crosscheck/explain/requisitions.ts'
import type { ExplanationContext, StoredRecords } from '../../../src/crosscheck/explain/stored-records.ts'
import { definitionDefaults, type MetricDefinition } from '../../../src/crosscheck/metrics/definition.ts'
import type { MetricFigures } from '../../../src/crosscheck/metrics/metric-query.ts'
import { dayMs } from '../../../src/lib/dates.ts'
import type { NamedRequisition } from '../../../src/state/by-id/unknown-references.ts'
import { explaining, service } from './explaining.ts'

const monday = Date.parse('2026-05-04')
const iso = (day: number) => new Date(monday + day * dayMs).toISOString()

/** Approved and accepted so many days after Monday, 4 May 2026. */
const record = (
  id: string,
  approved: number | null,
  accepted: readonly (readonly [string, number])[] = [],
) => ({
  ...{ id, reference: `REQ-${id}`, status: 'filled', company: { id: 'c1' }, project: { id: 'p1' } },
  ...{ approvedDate: approved === null ? null : iso(approved), updatedAt: '2026-05-20T00:00:00.000Z' },
  agencies: accepted.map(([agency, day]) => ({ id: agency, dateAccepted: iso(day) })),
})
type Served = ReturnType<typeof record>

const stored = (one: Served, more: Partial<StoredRequisition> = {}): StoredRequisition => ({
  ...servedRequisition(one),
  ...{ isDeleted: false, isOdd: false, copies: 1, hasAgencies: true },
  ...more,
})

const keys = { company: 'c1', project: 'p1', agency: 'a1', month: '2026-05', week: '2026-05-04' }
const figures = (...days: readonly number[]): MetricFigures => {
  const sorted = [...days].sort((left, right) => left - right)
  const average = sorted.reduce((sum, value) => sum + value, 0) / sorted.length
  return {
    ...{ rawCount: days.length, excludedOutliers: 0, averageDays: average },
    ...{
      minDays: sorted[0] ?? null,
      medianDays: sorted[Math.floor(sorted.length / 2)] ?? null,
      maxDays: sorted.at(-1) ?? null,
    },
  }
}
const cell = (theirs: MetricFigures | undefined, more: Partial<DifferingCell> = {}): DifferingCell => ({
  ...{ keys, theirs, ours: undefined },
  ...more,
})

interface Setup {
  readonly here?: readonly StoredRequisition[]
  readonly there?: readonly Served[]
  readonly lost?: readonly string[]
  readonly named?: readonly Partial<NamedRequisition>[]
  readonly limit?: number
  readonly definition?: Partial<MetricDefinition>
}

async function explained(cells: readonly DifferingCell[], setup: Setup = {}) {
  const { here = [], there = [], lost = [], named = [], limit = 99, definition } = setup
  const asker = service({
    limit,
    read(path) {
      const found = there.find(({ id }) => path === `/requisitions/${id}`)
      if (!found) throw Object.assign(Object.create(NotFound.prototype), { message: 'none' })
      return found
    },
  })
  const projects: unknown[] = []
  const reads: Partial<StoredRecords> = {
    async requisitions(some) {
      projects.push(some)
      return new Map(here.map(one => [one.id, one]))
    },
    lostRequisitions: async () => lost,
    namedRequisitions: async () =>
      named.map(one => ({
        ...{ company_id: 'c1', reference: 'REQ-X', project_id: 'p1', project_name: null },
        ...{ agency_id: 'a1', agency_name: null, created_date: null },
        ...{ requisition_id: null, state: null, reason: null, is_quarantined: false },
        ...one,
      })),
  }
  const parts: Partial<ExplanationContext> = { asker, definition: { ...definitionDefaults, ...definition } }
  const found = await explainFill(explaining(reads, parts), cells)
  return {
    ...found,
    projects: projects[0],
    read: asker.reads.map(path => path.replace('/requisitions/', () => '')),
    words: found.findings.map(({ kind, sentence }) => `${kind}: ${sentence}`),
  }
}

test('requisitions of the projects of the cells are looked into, and of all where a cell has none', async () => {
  const other = cell(undefined, { keys: { project: 'p2' } })
  expect((await explained([cell(undefined), other, cell(undefined)])).projects).toEqual(['p1', 'p2'])
  expect((await explained([cell(undefined), cell(undefined, { keys: {} })])).projects).toBeUndefined()
})

describe('read again are', () => {
  const one = record('r1', 0, [['a1', 2]])

  test('those that were stored once, and those whose rows contradict each other, whatever differs', async () => {
    const here = [stored(one), stored(record('r2', 0, [['a2', 2]]), { isOdd: true })]
    const { read } = await explained([cell(figures(2))], {
      here,
      there: [one, record('r2', 0), record('r9', 0)],
      lost: ['r9'],
    })
    expect(read).toEqual(['r9', 'r2'])
  })

  test('none more in a cell that agrees', async () => {
    const found = await explained([cell(figures(2))], { here: [stored(one)] })
    expect([found.read, found.words, found.isComplete]).toEqual([[], [], true])
  })

  test('those in a cell of too many, until it agrees', async () => {
    const here = ['r1', 'r2', 'r3'].map(id => stored(record(id, 0, [['a1', 2]])))
    const there = [record('r1', 0), record('r2', 0, [['a1', 2]]), record('r3', 0, [['a1', 2]])]
    const found = await explained([cell(figures(2, 2))], { here, there })
    expect(found.read).toEqual(['r1'])
    expect(found.words).toEqual([
      'differs: requisition REQ-r1: accepted by Hands 2026-05-06T00:00:00.000Z here, none there, in the same version',
    ])
  })

  test('those in a cell of as many with other days', async () => {
    const found = await explained([cell(figures(3))], {
      here: [stored(one)],
      there: [record('r1', 0, [['a1', 3]])],
    })
    expect(found.read).toEqual(['r1'])
    expect(found.words[0]).toMatch(/^differs: requisition REQ-r1: accepted by Hands/)
  })

  test('those in a cell of too few that has none of our days', async () => {
    const there = [record('r1', 0, [['a1', 5]]), record('r2', 0, [['a1', 6]])]
    const here = [stored(one), stored(record('r2', 0))]
    const found = await explained([cell(figures(5, 6))], { here, there })
    expect(found.read).toEqual(['r1', 'r2'])
    expect(found.words.map(words => words.slice(0, 29))).toEqual([
      'differs: requisition REQ-r1: ',
      'differs: requisition REQ-r2: ',
    ])
  })

  test("those in a cell of too few only if some of our days are not among the service's", async () => {
    const found = await explained([cell(figures(2, 5))], { here: [stored(one)], there: [one] })
    expect(found.read).toEqual([])
  })

  test('those in cells of too many first', async () => {
    const week = { ...keys, week: '2026-05-11' }
    const here = [stored(one), stored(record('r2', 7, [['a1', 9]])), stored(record('r3', 7, [['a1', 9]]))]
    const there = [one, record('r2', 7), record('r3', 7, [['a1', 9]])]
    const tooFew = cell(figures(4, 5))
    const found = await explained([tooFew, cell(figures(2), { keys: week })], { here, there })
    expect(found.read).toEqual(['r2', 'r1'])
  })

  test('those in cells of as many with other days in the order of the cells', async () => {
    const week = { ...keys, week: '2026-05-11' }
    const here = [stored(one), stored(record('r2', 7, [['a1', 9]]))]
    const there = [record('r1', 0, [['a1', 3]]), record('r2', 7)]
    const found = await explained([cell(figures(3)), cell(undefined, { keys: week })], { here, there })
    expect(found.read).toEqual(['r1', 'r2'])
  })

  test('once, also when several cells have them', async () => {
    const wide = cell(figures(3), { keys: { project: 'p1' } })
    const found = await explained([cell(figures(3)), wide], { here: [stored(one)], there: [one] })
    expect(found.read).toEqual(['r1'])
  })

  test('and are not there any more: deleted', async () => {
    const found = await explained([cell(undefined)], { here: [stored(one)] })
    expect(found.words).toEqual(['deleted: requisition REQ-r1: the service no longer has it'])
  })

  test('any other error ends the search', async () => {
    const read = () => {
      throw new Error('refused')
    }
    const reads = { lostRequisitions: async () => ['r1'] }
    await expect(
      explainFill(explaining(reads, { asker: service({ read }) }), [cell(undefined)]),
    ).rejects.toEqual(new Error('refused'))
  })
})

describe('read again for a missing acceptance are requisitions that could have it', () => {
  /** The service shows one acceptance of four days more than we have. */
  const readFor = async (candidate: StoredRequisition, parts: Partial<MetricDefinition> = {}, days = 4) =>
    (
      await explained([cell(figures(days))], {
        here: [candidate],
        there: [record(candidate.id, 0)],
        definition: parts,
      })
    ).read.length > 0

  test.each([
    ['of the project', {}, true],
    ['of another project', { project: 'p2' }, false],
    ['without agencies', { hasAgencies: false }, false],
    ['that were never approved here', { approvedAt: null }, true],
  ] as const)('%s: %s', async (...[, parts, is]) => {
    expect(await readFor(stored(record('r1', 0), parts))).toBe(is)
  })

  // Four days later, within the week and two days more on either side.
  test.each([
    [-6.0001, false],
    [-6, true],
    [4.9999, true],
    [5.001, false],
  ])('approved %d days after Monday: %s', async (approved, is) => {
    expect(await readFor(stored(record('r1', approved)))).toBe(is)
  })

  test('approved later, where days before the approval count as none', async () => {
    const late = stored(record('r1', 30))
    expect(await readFor(late, { negativeDays: 'zero' }, 0)).toBe(true)
    expect(await readFor(late, { negativeDays: 'zero' }, 1)).toBe(false)
    expect(await readFor(late, {}, 0)).toBe(false)
    expect(await readFor(stored(record('r1', -30)), { negativeDays: 'zero' }, 0)).toBe(false)
  })

  test('in rounded days more widely', async () => {
    expect(await readFor(stored(record('r1', -7)), { daysDecimals: 0 })).toBe(true)
    expect(await readFor(stored(record('r1', -8.1)), { daysDecimals: 0 })).toBe(false)
  })

  test('that the agency has not accepted already, where each counts once', async () => {
    const other = stored(record('r1', -40, [['a1', -30]]))
    const wide = cell({ ...figures(4), excludedOutliers: 1 })
    const read = async (acceptance: MetricDefinition['acceptance']) =>
      (await explained([wide], { here: [other], there: [record('r1', 0)], definition: { acceptance } })).read
    expect(await read('perAgency')).toEqual([])
    expect(await read('latest')).toEqual(['r1'])
    const another = stored(record('r1', -40, [['a2', -30]]))
    expect((await explained([wide], { here: [another], there: [record('r1', 0)] })).read).toEqual(['r1'])
  })

  test('in a cell of one project, agency and week only', async () => {
    for (const key of ['project', 'agency', 'week'] as const) {
      const { [key]: _, ...rest } = keys
      const found = await explained([cell(figures(4), { keys: rest })], {
        here: [stored(record('r1', 0))],
        there: [record('r1', 0)],
      })
      expect(found.read).toEqual([])
    }
  })

  test('without its time of approval in a cell of one week only', async () => {
    const { week: _, ...month } = keys
    const unapproved = { here: [stored(record('r1', null))], there: [record('r1', null)] }
    expect((await explained([cell(figures(4))], unapproved)).read).toEqual(['r1'])
    expect((await explained([cell(figures(4), { keys: month })], unapproved)).read).toEqual([])
  })

  test('in one of several that are missing', async () => {
    const here = [stored(record('r1', 0))]
    const found = await explained([cell(figures(4, 40))], { here, there: [record('r1', 0)] })
    expect(found.read).toEqual(['r1'])
  })
})

describe('acceptances that no stored requisition has', () => {
  test('are those of requisitions that records of this agency name', async () => {
    const found = await explained([cell(figures(4, 5))], {
      named: [{ reference: 'A' }, { reference: 'B', requisition_id: 'b' }, { reference: 'C' }],
    })
    expect(found.words).toEqual([
      expect.stringMatching(/^uncovered: requisition A: named by the metric rows/),
      'missing: requisition B: not fetched yet: a sync brings it',
    ])
    expect(found.findings).toMatchObject([
      { metric: 'timeToFill', record: 'A', ours: [], theirs: [{ keys, amount: 1 }] },
      { record: 'B', theirs: [{ keys, amount: 1 }] },
    ])
  })

  test('then of any that could be, then of none that a record names', async () => {
    const found = await explained([cell(figures(4, 5, 6))], { named: [{ reference: 'A', agency_id: 'a2' }] })
    expect(found.words).toEqual([
      expect.stringMatching(/^uncovered: requisition A: /),
      'uncovered: 2 acceptances by Hands in Bridge, week of 2026-05-04: no stored requisition has it, and no record names another: events or muster discover bring its id',
    ])
    expect(found.findings[1]?.theirs).toEqual([{ keys, amount: 2 }])
    const one = await explained([cell(figures(4), { keys: { ...keys, agency: 'a7', project: 'p7' } })])
    expect(one.words).toEqual([expect.stringMatching(/^uncovered: an acceptance by a7 in p7, week of /)])
  })

  test('are excused when every stored requisition that could have them was read again', async () => {
    const found = await explained([cell(figures(4))], {
      here: [stored(record('r1', 0))],
      there: [record('r1', 0)],
    })
    expect([found.read, found.words]).toEqual([
      ['r1'],
      [expect.stringMatching(/^uncovered: an acceptance by Hands in Bridge/)],
    ])
  })

  test('are not excused while a stored requisition that could have them was not read', async () => {
    const here = [stored(record('r1', 0))]
    const setup = { here, limit: 0, named: [{ reference: 'A' }, { reference: 'B', agency_id: 'a2' }] }
    const found = await explained([cell(figures(4, 5))], setup)
    expect(found.words).toEqual([
      expect.stringMatching(/^uncovered: requisition A: /),
      'unknown: 2 acceptances too few in c1, p1, a1, 2026-05, 2026-05-04, not looked into, as the requests are used: raise --max-requests',
    ])
    expect(found.isComplete).toBe(false)
  })

  test('are not excused without an agency and a week, or beside days that the service does not have', async () => {
    const { week: _, ...month } = keys
    const { agency: __, ...anyone } = keys
    for (const some of [month, anyone])
      expect((await explained([cell(figures(4), { keys: some })])).words).toEqual([
        expect.stringMatching(/^unknown: 1 acceptances too few in .*, no record behind it was found$/),
      ])
    const one = record('r1', 0, [['a1', 2]])
    const other = await explained([cell(figures(4, 5))], { here: [stored(one)], there: [one] })
    expect(other.words).toEqual([expect.stringMatching(/^unknown: 2 acceptances too few/)])
  })
})

test('what is left says by how much it differs, and where', async () => {
  const one = record('r1', 0, [['a1', 2]])
  const setup = { here: [stored(one)], there: [one] }
  const words = async (theirs: MetricFigures | undefined, more: Partial<DifferingCell> = {}) =>
    (await explained([cell(theirs, more)], setup)).words
  expect(await words(undefined, { ours: { rawCount: 3 } })).toEqual([
    'unknown: 3 acceptances too many in c1, p1, a1, 2026-05, 2026-05-04, no record behind it was found',
  ])
  expect(await words(figures(3), { ours: { rawCount: 1 }, keys: {} })).toEqual([
    'unknown: other days in all, no record behind it was found',
  ])
  const { findings } = await explained([cell(undefined)], setup)
  expect(findings).toMatchObject([{ ours: [], theirs: [{ keys, amount: 0 }] }])
})

describe('a cell of many', () => {
  const many = ['r1', 'r2', 'r3', 'r4'].map((id, index) => record(id, 0, [['a1', index + 1]]))
  const here = many.map(one => stored(one))

  test('agrees by its least, greatest and average days', async () => {
    expect((await explained([cell(figures(1, 2, 3, 4))], { here, there: many })).read).toEqual([])
    const found = await explained([cell(figures(1, 2, 3, 4.5), { ours: figures(1, 2, 3, 4) })], {
      here,
      there: many,
    })
    expect(found.read).toEqual(['r1', 'r2', 'r3', 'r4'])
    expect(found.words).toEqual([expect.stringMatching(/^unknown: other days in c1/)])
  })

  test('of which some are left out agrees when all were read again', async () => {
    const hidden = { ...figures(1, 2, 3, 4), excludedOutliers: 1 }
    const found = await explained([cell(hidden)], { here, there: many })
    expect([found.read, found.words]).toEqual([['r1', 'r2', 'r3', 'r4'], []])
    const tooFew = cell({ ...figures(1, 2, 3, 4, 5), excludedOutliers: 1 })
    const odd = here.map((one, index) => ({ ...one, isOdd: index === 0 }))
    const missing = await explained([tooFew], { here: odd, there: many })
    expect([missing.read, missing.words]).toEqual([
      ['r1', 'r2', 'r3', 'r4'],
      [expect.stringMatching(/^uncovered: an acceptance by Hands/)],
    ])
    const short = await explained([cell(hidden)], { here, there: many, limit: 3 })
    expect([short.read, short.isComplete, short.words.length]).toEqual([['r1', 'r2', 'r3'], false, 1])
  })
})
