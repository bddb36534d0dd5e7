/** Each quirk as a client sees it; without quirks nothing differs. */
import { describe, expect, it, test } from 'vitest'
import { type Body, type OpenSandbox, openSandbox } from '../sandbox/open-sandbox.ts'
import type { Quirks } from './quirk-settings.ts'

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()

const expenses = Array.from({ length: 500 }, (_, n) => ({
  id: `e${n}`,
  value: n,
  createdAt: at(n),
  updatedAt: at(n),
}))

const open = (quirks: Quirks = {}) =>
  openSandbox({ records: { expenses }, quirks: { expenses: quirks }, provokesViolations: true })

const listed = (sandbox: OpenSandbox, query = '') =>
  sandbox.get(`/expenses?sortBy=updatedAt&sortOrder=asc&limit=200${query}`)

/** [rows, first id, last id, meta.limit, meta.total] of pages. */
async function pages(quirks: Quirks, ...numbers: number[]) {
  const sandbox = await open(quirks)
  const found = []
  for (const page of numbers) {
    const { data, meta } = (await listed(sandbox, `&page=${page}`)).body
    found.push([data.length, data[0]?.id, data.at(-1)?.id, meta.limit, meta.total])
  }
  return found
}

const ids = (body: Body): string[] => body.data.map((row: Body) => row.id)

describe('pages', () => {
  test.each<[Quirks, number[], unknown[][]]>([
    [
      {},
      [1, 3],
      [
        [200, 'e0', 'e199', 200, 500],
        [100, 'e400', 'e499', 200, 500],
      ],
    ],
    [
      { 'page-cap': 50 },
      [1, 2],
      [
        [50, 'e0', 'e49', 200, 500],
        [50, 'e50', 'e99', 200, 500],
      ],
    ],
    [{ 'limit-cap': 50 }, [2], [[50, 'e50', 'e99', 50, 500]]],
    [
      { 'cut-pages': 50 },
      [1, 2],
      [
        [50, 'e0', 'e49', 200, 500],
        [50, 'e200', 'e249', 200, 500],
      ],
    ],
    [
      { 'short-page': 7 },
      [1, 2, 2, 3],
      [
        [200, 'e0', 'e199', 200, 500],
        [193, 'e200', 'e392', 200, 500],
        [193, 'e200', 'e392', 200, 500],
        [100, 'e400', 'e499', 200, 500],
      ],
    ],
    [
      { 'same-page': 'yes' },
      [2, 3],
      [
        [200, 'e0', 'e199', 200, 500],
        [200, 'e0', 'e199', 200, 500],
      ],
    ],
    [
      { 'repeat-page': 2 },
      [2, 2],
      [
        [200, 'e0', 'e199', 200, 500],
        [200, 'e200', 'e399', 200, 500],
      ],
    ],
    [{ 'total-cap': 300 }, [3], [[100, 'e400', 'e499', 200, 300]]],
    [{ 'total-over': 10 }, [3], [[100, 'e400', 'e499', 200, 510]]],
    [{ total: 'null' }, [3], [[100, 'e400', 'e499', 200, null]]],
    [{ total: 'missing' }, [3], [[100, 'e400', 'e499', 200, undefined]]],
    [{ total: 'text' }, [3], [[100, 'e400', 'e499', 200, '500']]],
    [
      { total: 'shrinking' },
      [3, 3],
      [
        [100, 'e400', 'e499', 200, 500],
        [100, 'e400', 'e499', 200, 499],
      ],
    ],
    [{ empty: 'yes' }, [1], [[0, undefined, undefined, 200, 0]]],
  ])('with %j', async (quirks, numbers, expected) => {
    expect(await pages(quirks, ...numbers)).toEqual(expected)
  })

  it('lack the same hidden records each time, also with selected fields', async () => {
    const sandbox = await open({ hidden: 48 })
    const all = async (more: string) => {
      const bodies = await Promise.all([1, 2, 3].map(page => listed(sandbox, `&page=${page}${more}`)))
      expect(bodies.map(({ body }) => body.meta.total)).toEqual([500, 500, 500])
      return bodies.flatMap(({ body }) => body.data)
    }
    const first = await all('')
    expect(first).toHaveLength(452)
    expect(await all('&fields=value')).toEqual(first.map(({ value }) => ({ value })))
  })

  it('are refused, or claim no success', async () => {
    const sandbox = await open({ 'forbidden-after': 2 })
    const statuses = []
    for (let asked = 0; asked < 3; asked += 1) statuses.push((await listed(sandbox)).status)
    expect(statuses).toEqual([200, 200, 403])
    sandbox.setQuirks({ all: { success: 'false' } })
    expect((await listed(sandbox)).body).toMatchObject({ success: false })
  })
})

describe('records', () => {
  it('hold a text of the wrong type until the quirk ends, in the list and the single read', async () => {
    const sandbox = await open({ broken: 20 })
    const read = async () => {
      const pages = await Promise.all([1, 2, 3].map(page => listed(sandbox, `&page=${page}`)))
      return pages.flatMap(({ body }) => body.data).filter((row: Body) => typeof row.value !== 'number')
    }
    const broken = await read()
    expect(broken).toHaveLength(20)
    expect((await sandbox.get(`/expenses/${broken[0].id}`)).body.data).toEqual(broken[0])
    sandbox.setQuirks()
    expect(await read()).toEqual([])
  })

  it('have odd keys', async () => {
    const sandbox = await open({ 'odd-keys': ['empty', 'quote', 'proto', 'many', 'deep'], 'odd-every': 100 })
    const { data } = (await listed(sandbox)).body
    const odd = data.filter((row: Body) => Object.keys(row).length > 4)
    expect(odd.length).toBeGreaterThan(0)
    expect(odd.length).toBeLessThan(20)
    expect(Object.keys(odd[0])).toHaveLength(4 + 10_004)
    expect(Object.keys(odd[0])).toEqual(expect.arrayContaining(['', 'say "so"', '__proto__']))
    let depth = 0
    for (let value = odd[0].oddDeep; typeof value === 'object'; value = value.below) depth += 1
    expect(depth).toBe(1_000)
  })
})

describe('changes between requests', () => {
  const seen = async (quirks: Quirks) => {
    const sandbox = await open(quirks)
    const lists = []
    for (let asked = 0; asked < 2; asked += 1) {
      await listed(sandbox)
      lists.push(sandbox.world.all('expenses'))
    }
    return lists as [Body[], Body[]]
  }
  const newest = expenses.at(-1)?.updatedAt ?? ''

  it('delete and insert', async () => {
    const [one, two] = await seen({ churn: 3 })
    const kept = new Set(one.map(({ id }) => id))
    expect(two).toHaveLength(500)
    expect(two.filter(({ id }) => !kept.has(id))).toHaveLength(3)
    expect(two.filter(({ id, updatedAt }) => !kept.has(id) && updatedAt > newest)).toHaveLength(3)
  })

  it('update, at once or late, and insert in the past', async () => {
    const [updated] = await seen({ updates: 5 })
    expect(updated.filter(({ updatedAt }) => updatedAt > newest)).toHaveLength(5)
    const lateness = (Date.now() - Date.UTC(2026, 0, 1)) / 1000
    const [late] = await seen({ late: 5, lateness: Math.floor(lateness) - 450 })
    expect(late.filter(({ updatedAt }, n) => updatedAt !== expenses[n]?.updatedAt)).toHaveLength(5)
    expect(late.filter(({ updatedAt }) => updatedAt > newest)).toEqual([])
    const [, backdated] = await seen({ backdated: 4, lateness: Math.floor(lateness) - 100 })
    expect(backdated).toHaveLength(508)
    expect(backdated.filter(({ createdAt }) => createdAt > newest)).toEqual([])
  })

  it('update many at one time, once', async () => {
    const [one, two] = await seen({ 'bulk-update': 300 })
    expect(one.filter(({ updatedAt }) => updatedAt > newest)).toHaveLength(300)
    expect(new Set(one.map(({ updatedAt }) => updatedAt)).size).toBe(201)
    expect(two).toEqual(one)
  })

  it('are the same for the same seed', async () => {
    const left = async () => ids((await listed(await open({ churn: 3 }))).body)
    expect(await left()).toEqual(await left())
  })
})

describe('settings', () => {
  it('apply to one resource or to all, and can change while it runs', async () => {
    const sandbox = await openSandbox({
      records: { expenses, projects: expenses },
      quirks: { all: { 'page-cap': 50 }, expenses: { 'page-cap': 20 } },
    })
    const sizes = async () => [
      (await listed(sandbox)).body.data.length,
      (await sandbox.get('/projects?limit=200')).body.data.length,
    ]
    expect(await sizes()).toEqual([20, 50])
    sandbox.setQuirks({ projects: { 'page-cap': 7, hidden: 2 } })
    expect((await sizes())[0]).toBe(200)
    sandbox.setQuirks()
    expect(await sizes()).toEqual([200, 200])
  })

  it('refuse a resource that is not there', async () => {
    const sandbox = await open()
    expect(() => sandbox.setQuirks({ timesheet: { hidden: 1 } })).toThrow('there is no resource timesheet')
  })
})
