/** When one scope of a snapshot is read, and which pages stand for it. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { PageUnreadable } from '../../../src/load/read/page-repair.ts'
import type { PageFile } from '../../../src/load/read/pages.ts'
import { freshScan, openScan } from '../../../src/state/scans/scans.ts'
import { readAgain, readScope, readUnreadable } from '../../../src/sync/snapshot/read-scope.ts'
import type { ScopeReading, ScopeScan } from '../../../src/sync/snapshot/snapshot-scan.ts'
import { resourceOf, rulesWarehouse } from '../../support/rules-warehouse.ts'
import {
  hour,
  type ListAnswer,
  type Request,
  rulesTasks,
  type Service,
  type TaskParts,
} from '../rules-task.ts'

const warehouse = rulesWarehouse()
const { task: newTask } = rulesTasks(warehouse)
const rules = resourceOf('access-rules')
const matrix = resourceOf('competency-matrix')
const at: ScopeScan = {
  scanId: 'scan',
  scope: { name: 'key', columns: {}, query: { extra: 'yes' }, company: 'c1', extent: {} },
}
/** A page of these rows, of a list that may count more. */
const partOf = ({ query, page = 1 }: Request, rows: readonly object[], total = rows.length): ListAnswer => {
  const limit = Number(query.limit)
  return { total, records: rows.slice((page - 1) * limit, page * limit) }
}
const listing =
  (rows: readonly object[], total = rows.length): Service =>
  request =>
    request.page === undefined ? undefined : partOf(request, rows, total)
const rowsOf = (count: number, parts: object = {}) =>
  Array.from({ length: count }, (_, n) => ({ id: `r${n}`, ...parts }))

/** The scope as it was last read whole. */
const lastRead = (total: number, hidden = 0, started = hour(-9)) =>
  openScan(
    warehouse.engine,
    freshScan({
      ...{
        scan_id: `last${started}`,
        resource: 'access-rules',
        kind: 'snapshot',
        scope: 'key',
        run_id: 'before',
      },
      ...{ state: 'accepted', started_at: started, last_total: total, expected_ids: total - hidden },
    }),
  )
const read = async (service: Service, parts: TaskParts = {}) => {
  const task = await newTask(rules, service, parts)
  return { task, reading: await readScope(task, at) }
}
const again = async (service: Service, before: ScopeReading, parts: TaskParts = {}) => {
  const task = await newTask(rules, service, parts)
  return { task, reading: await readAgain(task, at, before) }
}
const contentOf = ({ pages }: ScopeReading) =>
  pages.map(({ file }) => JSON.parse(readFileSync(file, 'utf8')) as { data: { id: string }[]; meta: object })

describe('a list of one page', () => {
  test('is proved by one request, with what its scope asks for', async () => {
    const { task, reading } = await read(listing(rowsOf(2)))
    expect(task.requests).toMatchObject([
      { path: '/access-rule-mappings', query: { extra: 'yes', sortBy: 'can', page: 1, limit: 200 } },
    ])
    expect(reading).toMatchObject({ total: 2, hidden: 0, isHiddenKnown: true, isProved: true })
    expect(reading.pages).toMatchObject([{ sequence: 1, page: 1, runId: 'this', fetchedAt: hour(0) }])
    expect(task.counters.requests).toBe(1)
  })

  test('that is empty for the first time is asked for once more, and the first answer is forgotten', async () => {
    let answers = 0
    const { task, reading } = await read(request => {
      answers += 1
      return partOf(request, answers === 1 ? [] : rowsOf(2))
    })
    expect(task.requests).toHaveLength(2)
    expect(task.landings).toEqual(['forget page 1'])
    expect(reading.total).toBe(2)
  })

  test.each([
    ['was empty when it was last read', 0, 0, [], 1],
    ['had rows when it was last read', 3, 0, [], 2],
    ['counts rows that it does not show', 3, 0, [], 2],
  ])('that is empty and %s is asked for %#', async (...[, total, hidden, rows, requests]) => {
    await lastRead(total, hidden)
    expect((await read(listing(rows))).task.requests).toHaveLength(requests)
  })

  test('of which the last complete reading counts, not an earlier one', async () => {
    await lastRead(3, 0, hour(-10))
    await lastRead(0, 0, hour(-9))
    expect((await read(listing([]))).task.requests).toHaveLength(1)
  })
})

describe('a list of several pages', () => {
  const rows = rowsOf(201)

  test('is read once, and is not proved by that', async () => {
    const { task, reading } = await read(listing(rows))
    expect(task.asked()).toEqual(['/access-rule-mappings 1', '/access-rule-mappings 2'])
    expect(reading).toMatchObject({ total: 201, hidden: 0, isProved: false })
    expect(reading.pages.map(({ sequence, page }) => [sequence, page])).toEqual([
      [1, 1],
      [2, 2],
    ])
  })

  test('is proved by another pass, in its other order, after the pages of the first', async () => {
    const first = await read(listing(rows))
    const { task, reading } = await again(listing(rows), first.reading)
    expect(task.requests.map(({ query }) => query.sortBy)).toEqual(['a', 'a'])
    expect(reading).toMatchObject({ total: 201, isProved: true })
    expect(reading.pages.map(({ sequence }) => sequence)).toEqual([3, 4])
  })

  test('takes its orders in turn, and pages of another size in each third pass', async () => {
    const first = await read(listing(rows))
    let answers = 0
    const restless: Service = request => {
      answers += 1
      return request.page === undefined
        ? undefined
        : partOf(
            request,
            rowsOf(60, {}).map(({ id }) => ({ id: `${id}-${answers}` })),
            201,
          )
    }
    const task = await newTask(rules, restless)
    await expect(readAgain(task, at, first.reading)).rejects.toThrow('the list did not show more in')
    const passes = task.requests
      .filter(({ page }) => page === 1)
      .map(({ query }) => [query.sortBy, query.limit])
    expect(passes.slice(0, 3)).toEqual([
      ['a', 200],
      ['can', 160],
      ['a', 200],
    ])
  })

  test('with a row that moved between its pages is read until it is seen', async () => {
    const service: Service = request => {
      const isFirst = request.query.sortBy === 'can'
      // The row slid from the second page to the first, which had been read.
      const shown = isFirst && request.page === 2 ? [] : rows
      return request.page === undefined ? undefined : partOf(request, shown, 201)
    }
    const { task, reading } = await read(service)
    expect(task.requests.length).toBeGreaterThan(2)
    expect(reading.total).toBe(201)
    expect(
      contentOf(reading)
        .flatMap(({ data }) => data.map(({ id }) => id))
        .sort(),
    ).toEqual(rows.map(({ id }) => id).sort())
  })

  test('of rows without ids that changed meanwhile is that of the proved pass', async () => {
    const version = (n: number) =>
      Array.from({ length: 201 }, (_, row) => ({ name: `n${row}`, ...(row === 0 && { n }) }))
    const first = await read(listing(version(1)))
    const { reading } = await again(listing(version(2)), first.reading)
    const found = contentOf(reading).flatMap(({ data }) => data) as { n?: number }[]
    expect(found).toHaveLength(201)
    expect(found.filter(({ n }) => n === 1)).toEqual([])
  })

  test('that shows fewer rows than it counts, each time the same, hides them', async () => {
    const { reading } = await read(listing(rowsOf(201), 203))
    expect(reading).toMatchObject({ total: 203, hidden: 2, isHiddenKnown: false })
  })

  test('that hid as many when it was last read is proved at once by what it shows', async () => {
    await lastRead(203, 2)
    const { task, reading } = await read(listing(rowsOf(201), 203))
    expect(reading).toMatchObject({ total: 203, hidden: 2, isHiddenKnown: true })
    const without = await read(listing(rowsOf(201), 203))
    expect(task.requests.length).toBeLessThanOrEqual(without.task.requests.length)
  })

  test('that never settles is incomplete, with what it showed', async () => {
    let answers = 0
    const fresh = (count: number) => Array.from({ length: count }, (_, n) => ({ id: `a${answers} ${n}` }))
    const task = await newTask(rules, ({ page, query }) => {
      answers += 1
      if (page === undefined) return undefined
      const size = Number(query.limit)
      return { total: 250, records: fresh(page === 1 ? size : page === 2 ? 249 - size : 0) }
    })
    await expect(readScope(task, at)).rejects.toThrow(
      /^access-rules \(saw \d+ of 250\) incomplete: the list did not show more in \d+ passes/,
    )
  })

  test('that shows a page without its rows is incomplete, and says which', async () => {
    const task = await newTask(rules, ({ page }) =>
      page === undefined ? undefined : { total: 900, records: page === 1 ? rowsOf(200) : [] },
    )
    await expect(readScope(task, at)).rejects.toThrow(
      'access-rules (saw 200 of 900) incomplete: page 2 was empty although the list has 900 rows',
    )
    expect(task.requests.filter(({ page }) => page === 2)).toHaveLength(2)
  })
})

test('pages of a scan that are landed already come first in its order', async () => {
  const first = await read(listing(rowsOf(1)))
  const pages = first.reading.pages.map(page => ({ ...page, sequence: 7 }))
  const { reading } = await read(listing(rowsOf(1)), { pages })
  expect(reading.pages.map(({ sequence }) => sequence)).toEqual([8])
})

describe('a single object', () => {
  const readObject = async (record: object, resource = matrix) => {
    const task = await newTask(resource, ({ page }) => (page === undefined ? record : undefined))
    return { task, reading: await readScope(task, at) }
  }

  test('is proved by one request, and has as many rows as its list', async () => {
    const { task, reading } = await readObject({ entries: [{}, {}, {}] })
    expect(task.requests).toMatchObject([
      { path: '/companies/c1/competency-matrix', query: { extra: 'yes' } },
    ])
    expect(reading).toMatchObject({ total: 3, hidden: 0, isProved: true, pages: [{ sequence: 1, page: 1 }] })
    expect(task.counters.requests).toBe(1)
  })

  test('with an empty list has no rows', async () => {
    expect((await readObject({ entries: [] })).reading.total).toBe(0)
  })

  test.each([
    ['no list', {}],
    ['null', { entries: null }],
    ['a text, which has a length', { entries: 'none' }],
    ['an object', { entries: { length: 0 } }],
  ])('with %s in place of its list is a bad answer: it would remove every row', async (...[, record]) => {
    await expect(readObject(record)).rejects.toThrow(
      'bad answer: data.entries is not a list (GET /companies/c1/competency-matrix)',
    )
  })

  test('that is a record by itself counts as one row', async () => {
    expect((await readObject({ name: 'a key' }, resourceOf('key'))).reading.total).toBe(1)
  })
})

describe('scopes whose pages could not be loaded', () => {
  const setUp = async () => {
    const task = await newTask(rules, listing(rowsOf(1)))
    const group = [
      { ...at, reading: await readScope(task, at) },
      { ...at, scanId: 'other', reading: await readScope(task, at) },
    ]
    const fail = (...pages: unknown[]) =>
      new PageUnreadable(pages as [PageFile, ...PageFile[]], new Error('not JSON'))
    return { task, group, fail }
  }

  test('are read again, and the others kept', async () => {
    const { task, group, fail } = await setUp()
    const [one, other] = await readUnreadable(task, group, fail(group[1]?.reading.pages[0]))
    expect(one).toBe(group[0])
    expect(other).toMatchObject({ scanId: 'other', reading: { total: 1 } })
    expect(other?.reading.pages[0]?.file).not.toBe(group[1]?.reading.pages[0]?.file)
    expect(task.requests).toHaveLength(3)
  })

  test('are all read again when pages of several are unreadable', async () => {
    const { task, group, fail } = await setUp()
    const pages = group.flatMap(({ reading }) => reading.pages)
    const read = await readUnreadable(task, group, fail(...pages))
    expect(read.map(({ reading }) => reading.pages[0]?.file)).not.toContain(pages[0]?.file)
    expect(task.requests).toHaveLength(4)
  })

  test('are not read a second time', async () => {
    const { task, group, fail } = await setUp()
    const error = fail(group[1]?.reading.pages[0])
    await readUnreadable(task, group, error)
    await expect(readUnreadable(task, group, error)).rejects.toBe(error)
  })

  test('for another reason are not read again', async () => {
    const { task, group } = await setUp()
    const bug = new Error('a bug')
    await expect(readUnreadable(task, group, bug)).rejects.toBe(bug)
    expect(task.requests).toHaveLength(2)
  })
})
