/** What a scan of a list without change times asks for, when it is done, and of which rows its pages are. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { AccessDenied, BadRequest } from '../../../src/api/client/errors.ts'
import type { Resource, Snapshot } from '../../../src/contract/fields/resource.ts'
import { ServiceClock } from '../../../src/lib/service-clock.ts'
import { freshScan, openScan } from '../../../src/state/scans/scans.ts'
import { readAgain, readScope } from '../../../src/sync/snapshot/read-scope.ts'
import type { ScopeReading, ScopeScan } from '../../../src/sync/snapshot/snapshot-scan.ts'
import { resourceOf, rulesWarehouse } from '../../support/rules-warehouse.ts'
import { virtualClock } from '../../support/virtual-clock.ts'
import { hour, type ListAnswer, notFound, type RulesTask, rulesTasks, type TaskParts } from '../rules-task.ts'

const warehouse = rulesWarehouse()
const { task: newTask } = rulesTasks(warehouse)
const rules = resourceOf('access-rules')
const at: ScopeScan = {
  scanId: 'scan',
  scope: { name: 'key', columns: {}, query: {}, company: 'c1', extent: {} },
}
const minute = 60_000

type Row = Readonly<Record<string, unknown>>
/** The pages of a pass; pages after them are refused. */
type PassAnswers = readonly (ListAnswer | Error)[]
interface Parts extends TaskParts {
  readonly resource?: Resource
  readonly before?: ScopeReading
}

const row = (n: number): Row => ({ id: `r${n}` })
/** Rows from the first number to the one before the last. */
const rows = (from: number, to: number, rowOf = row): Row[] =>
  Array.from({ length: to - from }, (_, place) => rowOf(from + place))
const pageOf = (total: number, records: readonly Row[] = []): ListAnswer => ({ total, records })
/** A pass over a list of so many rows that shows all of them. */
const whole = (total: number): PassAnswers => [
  pageOf(total, rows(0, Math.min(200, total))),
  pageOf(total, rows(200, Math.max(200, total))),
]

/** Reads a list that answers each pass in its turn, and then as the last of them; each request takes a minute. */
async function scanned(passes: readonly PassAnswers[], { resource = rules, before, ...parts }: Parts = {}) {
  let pass = -1
  const task: RulesTask = await newTask(
    resource,
    async ({ page }) => {
      if (page === undefined) return undefined
      await task.clock.sleep(minute)
      if (page === 1) pass += 1
      return passes[Math.min(pass, passes.length - 1)]?.[page - 1] ?? notFound
    },
    parts,
  )
  const work = before ? readAgain(task, at, before) : readScope(task, at)
  const result = await work.catch((error: unknown) => error)
  return { task, result, reading: result as ScopeReading }
}
const pagesAsked = ({ requests }: RulesTask) => requests.map(({ page }) => page)
const rowsOf = ({ pages }: ScopeReading) =>
  pages.map(({ file }) => (JSON.parse(readFileSync(file, 'utf8')) as { data: Row[] }).data)
const minutes = (count: number): string => hour(count / 60)

/** The scope as it was last read whole. */
const lastRead = (total: number, hidden: number) =>
  openScan(
    warehouse.engine,
    freshScan({
      ...{ scan_id: 'last', resource: rules.name, kind: 'snapshot', scope: 'key', run_id: 'before' },
      ...{ state: 'accepted', started_at: hour(-9), last_total: total, expected_ids: total - hidden },
    }),
  )

describe('a request for a page', () => {
  test('says how many rows the list has, as far as is known', async () => {
    const { task } = await scanned([whole(201)])
    expect(task.requests.map(({ options }) => options)).toEqual([
      { mayBeHollow: true, rows: 0 },
      { mayBeHollow: true, rows: 201 },
    ])
  })

  test('behind the end does not say it, as its refusal would pass for the end', async () => {
    const { task, reading } = await scanned([whole(200)])
    expect(task.requests.map(({ options }) => options)).toEqual([
      { mayBeHollow: true, rows: 0 },
      { mayBeHollow: true },
    ])
    expect(reading).toMatchObject({ total: 200, isProved: true })
  })

  test('has no order where the list has none', async () => {
    const { task } = await scanned([whole(1)], { resource: resourceOf('user-assignments') })
    expect(task.requests.map(({ query }) => query)).toEqual([{ page: 1, limit: 200 }])
  })

  test('has the orders of the list in turn, from the first', async () => {
    const orders = ['x', 'y', 'z'].map(sortBy => ({ sortBy }))
    const resource = { ...rules, read: { ...(rules.read as Snapshot), orders } }
    const first = await scanned([whole(201)], { resource })
    const second = await scanned([whole(201)], { resource, before: first.reading })
    const sorted = [first, second].map(({ task }) => task.requests[0]?.query.sortBy)
    expect(sorted).toEqual(['x', 'y'])
  })
})

describe('a page that is refused', () => {
  const bad = new BadRequest({ request: 'GET', status: 400 })
  const denied = new AccessDenied({ request: 'GET' })

  test.each([
    ['404', notFound],
    ['400', bad],
  ])('with a %s after the first leaves the list incomplete', async (...[, refusal]) => {
    const { result } = await scanned([[pageOf(1201, rows(0, 200)), refusal]])
    expect(result).toMatchObject({
      message: expect.stringMatching(
        /^access-rules \(saw 0 of 1,201\) incomplete: page 2 of a list of 1,201 was refused/,
      ),
    })
  })

  test('behind the end leaves the list incomplete as well', async () => {
    const { result } = await scanned([[pageOf(200, rows(0, 200))]])
    expect(result).toMatchObject({ message: expect.stringContaining('page 2 of a list of 200 was refused') })
  })

  test.each([
    ['a 404 of the first page', [notFound], notFound],
    ['a 400 of the first page', [bad], bad],
    ['another error of a later page', [pageOf(201, rows(0, 200)), denied], denied],
  ])('is a refusal of the scope by %s', async (...[, answers, error]) => {
    expect((await scanned([answers])).result).toBe(error)
  })
})

describe('a first page', () => {
  test.each([
    ['that counts no rows but shows one', pageOf(0, [row(1)])],
    ['that counts rows but shows none', pageOf(3)],
  ])('%s is asked for twice, and the list refused', async (...[, answer]) => {
    const { task, result } = await scanned([[answer]])
    expect(pagesAsked(task)).toEqual([1, 1])
    expect(task.landings).toEqual(['forget page 1'])
    expect(result).toMatchObject({ message: expect.stringContaining('incomplete') })
  })

  test('of a later pass that is empty is kept, as another pass follows', async () => {
    const { reading: before } = await scanned([whole(201)])
    const { task, reading } = await scanned([[pageOf(0)], whole(201)], { before })
    expect(task.landings).toEqual([])
    expect(reading).toMatchObject({ total: 201, isProved: true })
  })
})

describe('rows that a list is known to hide', () => {
  /** Two of 399. */
  const hiding = [[pageOf(399, rows(0, 198)), pageOf(399, rows(198, 397))]]

  test('are expected to be missing from its pages when they were hidden before', async () => {
    await lastRead(399, 2)
    const { task, reading } = await scanned(hiding)
    expect(pagesAsked(task)).toEqual([1, 2])
    expect(reading).toMatchObject({ total: 399, hidden: 2, isHiddenKnown: true, isProved: false })
  })

  test('are expected to be missing from its pages when the run is told so', async () => {
    const { task, reading } = await scanned(hiding, { sync: { hidden: 2 } })
    expect(pagesAsked(task)).toEqual([1, 2])
    expect(reading).toMatchObject({ total: 399, hidden: 2, isHiddenKnown: false })
  })

  test('are missed when there are fewer of them', async () => {
    await lastRead(399, 1)
    expect(pagesAsked((await scanned(hiding)).task).length).toBeGreaterThan(2)
  })
})

describe('a pass over several pages', () => {
  test('is not enough when it counts less than half of the rows seen', async () => {
    const from = (first: number, size: number) =>
      Array.from({ length: Math.ceil(600 / size) }, (_, place) => {
        const start = first + place * size
        return pageOf(600, rows(start, Math.min(start + size, 600)))
      })
    const { reading } = await scanned([from(1, 200), whole(201), from(0, 160)])
    expect(reading).toMatchObject({ total: 600, isProved: true })
  })

  test('is not enough when it shows more rows than it counts', async () => {
    const { result } = await scanned([[pageOf(201, rows(0, 200)), pageOf(201, rows(199, 201))]])
    expect(result).toMatchObject({
      message: expect.stringContaining('page 2 showed 202 rows of a list of 201'),
    })
  })

  test('is enough after one that was cut short, and its own total counts', async () => {
    const { reading } = await scanned([[pageOf(201, rows(0, 200)), pageOf(201)], whole(399)])
    expect(reading).toMatchObject({ total: 399, isProved: false })
  })

  test('is not enough as a confirmation when a row of it was not seen before', async () => {
    const { reading: before } = await scanned([whole(201)])
    const other = pageOf(201, [{ id: 'new' }])
    const passes = [
      [pageOf(201, rows(0, 200)), other],
      [pageOf(201, rows(0, 160)), pageOf(201, [...rows(160, 200), { id: 'new' }])],
    ]
    const { task, reading } = await scanned(passes, { before })
    expect(pagesAsked(task)).toEqual([1, 2, 1, 2])
    expect(reading).toMatchObject({ total: 201, isProved: true })
  })
})

/**
 * Three passes of which the last proves the second: it shows the row that the second missed. Row 201 is added before
 * the third.
 */
const provedLate = (rowOf: (n: number) => Row, missed?: number): PassAnswers[] => {
  const last = rows(160, 202, rowOf).filter((_, place) => place + 160 !== missed)
  return [
    [pageOf(201, rows(1, 201, rowOf)), pageOf(201)],
    [pageOf(201, rows(0, 200, rowOf)), pageOf(201)],
    [pageOf(202, rows(0, 160, rowOf)), pageOf(202, last)],
  ]
}
const nameless = (n: number): Row => ({ name: `r${n}` })
const mixed = (n: number): Row => (n === 150 ? nameless(n) : row(n))
const sorted = (found: readonly Row[]): string[] => found.map(one => JSON.stringify(one)).sort()

describe('a pass that a later one proves', () => {
  test('has the rows of both when they have ids, each once', async () => {
    const { reading } = await scanned(provedLate(row, 199))
    expect(reading).toMatchObject({ total: 201, isProved: true })
    expect(rowsOf(reading).map(({ length }) => length)).toEqual([200, 2])
    expect(sorted(rowsOf(reading).flat())).toEqual(sorted(rows(0, 202)))
  })

  test('has the rows of both when the later one is complete as well', async () => {
    const { reading } = await scanned(provedLate(row))
    expect(rowsOf(reading).map(({ length }) => length)).toEqual([200, 2])
    expect(sorted(rowsOf(reading).flat())).toEqual(sorted(rows(0, 202)))
  })

  test.each([
    ['no row has an id', nameless],
    ['one row has no id', mixed],
  ])('has only the rows that count for it when %s', async (...[, rowOf]) => {
    const { reading } = await scanned(provedLate(rowOf, 199))
    expect(reading).toMatchObject({ total: 201, isProved: true })
    expect(sorted(rowsOf(reading).flat())).toEqual(sorted(rows(0, 201, rowOf)))
  })

  test('gives way to the later one when rows have no ids and that one is complete', async () => {
    const { reading } = await scanned(provedLate(nameless))
    expect(reading.pages.map(({ sequence }) => sequence)).toEqual([5, 6])
    expect(rowsOf(reading).map(({ length }) => length)).toEqual([160, 42])
  })

  test('has its pages put together behind those received, as of the last of them', async () => {
    const sync = { clock: new ServiceClock(virtualClock(hour(5))) }
    const { reading } = await scanned(provedLate(row, 199), { sync })
    expect(reading.pages).toMatchObject([
      { sequence: 7, page: 1, fetchedAt: minutes(6), runId: 'this' },
      { sequence: 8, page: 2, fetchedAt: minutes(6), runId: 'this' },
    ])
    expect(reading.progress?.sequence).toBe(8)
  })
})
