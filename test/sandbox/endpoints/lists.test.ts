/** What every list has in common: envelope, paging, sorting, dates, fields, refusals. */
import { describe, expect, it } from 'vitest'
import { LISTS, sortField } from '../../contract/list-declarations.ts'
import { type Body, openSandbox, sortedBy } from '../open-sandbox.ts'

const sandbox = await openSandbox({ provokesViolations: true })

const document: Body = await (await fetch(new URL('/openapi.json', sandbox.url))).json()

/** The default of a parameter, as the document of the sandbox says it. */
const presetOf = (path: string, parameter: string) =>
  document.paths[path].get.parameters.find(({ name }: Body) => name === parameter).schema.default

describe.each(LISTS)('$path', ({ path, sort, dates, choices }) => {
  it('returns the first 50 in the default order, with meta', async () => {
    const { status: code, body } = await sandbox.get(path)
    expect(code).toBe(200)
    expect(body.success).toBe(true)
    expect(body.meta).toMatchObject({ page: 1, limit: 50 })
    expect(body.data).toHaveLength(Math.min(50, body.meta.total))
    const by = sortField(presetOf(path, 'sortBy'))
    expect(sortedBy(body.data, (row: Body) => row[by], presetOf(path, 'sortOrder'))).toBe(true)
  })

  it('sorts by each sort field both ways, missing values lowest', async () => {
    for (const sortBy of sort) {
      for (const sortOrder of ['asc', 'desc'] as const) {
        const field = sortField(sortBy)
        const query = `sortBy=${sortBy}&sortOrder=${sortOrder}&fields=${field}&limit=200`
        const { body } = await sandbox.get(`${path}?${query}`)
        expect(
          sortedBy(body.data, (row: Body) => row[field] ?? '', sortOrder),
          `${sortBy} ${sortOrder}`,
        ).toBe(true)
      }
    }
  })

  it('pages through everything once', async () => {
    const seen = new Set<string>()
    let total = 1
    for (let page = 1; seen.size < total && page <= 30; page += 1) {
      const { body } = await sandbox.get(`${path}?page=${page}&limit=200&fields=id`)
      total = body.meta.total
      for (const row of body.data) seen.add(row.id)
    }
    expect(seen.size).toBe(total)
    const beyond = await sandbox.get(`${path}?page=999`)
    expect(beyond.body.data).toEqual([])
    expect(beyond.body.meta.total).toBe(total)
  })

  it('filters by status', async () => {
    const counts = await Promise.all(
      (choices.status?.values ?? []).map(
        async value => (await sandbox.get(`${path}?status=${value}&limit=1`)).body.meta.total,
      ),
    )
    const all = (await sandbox.get(`${path}?limit=1`)).body.meta.total
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(all)
  })

  it('includes both days of a range', async () => {
    for (const dateField of dates) {
      const { body: any } = await sandbox.get(`${path}?limit=200&fields=${dateField}`)
      const day = any.data
        .map((row: Body) => row[dateField])
        .find(Boolean)
        .slice(0, 10)
      const extra = dates.length > 1 ? `&dateField=${dateField}` : ''
      const { body } = await sandbox.get(`${path}?from=${day}&to=${day}${extra}&limit=200`)
      expect(body.data.length).toBeGreaterThan(0)
      expect(
        body.data.every((row: Body) => row[dateField].startsWith(day)),
        dateField,
      ).toBe(true)
    }
  })

  it('returns only the selected fields', async () => {
    const { body } = await sandbox.get(`${path}?fields=id,company.name,nonsense&limit=1`)
    const keys = Object.keys(body.data[0])
    expect(keys).toContain('id')
    expect(keys.every(key => ['id', 'company'].includes(key))).toBe(true)
    if (body.data[0].company) expect(Object.keys(body.data[0].company)).toEqual(['name'])
  })

  it('refuses what breaks the contract', async () => {
    const common = ['limit=201', 'limit=0', 'limit=x', 'page=0', 'page=1.5', 'sortBy=nothing', 'sortOrder=up']
    const broken = [...common, 'status=nothing', 'unknown=1', 'page=1&page=2', 'fields=', 'company=']
    const days =
      dates.length === 0 ? ['from=2026-01-01'] : ['from=2026-02-30', 'from=1.1.2026', 'to=2026-1-1']
    for (const query of [...broken, ...days]) {
      const { status: code, body } = await sandbox.get(`${path}?${query}`)
      expect(code, query).toBe(400)
      expect(body).toMatchObject({
        success: false,
        error: { code: 'BAD_REQUEST', message: expect.any(String) },
      })
    }
    const wrong = await sandbox.get(`${path}?dateField=nothing`)
    expect(wrong.status).toBe(400)
  })
})

it('lists the requests that broke the contract', async () => {
  const own = await openSandbox({ records: {}, provokesViolations: true })
  await own.get('/timesheets')
  await own.get('/timesheets?page=0')
  expect(own.requests.map(request => `${request.method} ${request.path}`)).toEqual([
    'GET /timesheets',
    'GET /timesheets',
  ])
  expect(own.violations()).toHaveLength(1)
  expect(own.violations()[0]).toMatchObject({
    kind: 'page',
    path: '/timesheets',
    query: { page: '0' },
    message: expect.stringContaining('page'),
  })
})

it('keeps ties in order of insertion, or shuffles them', async () => {
  const projects = Array.from({ length: 50 }, (_, index) => ({ id: `p${index}`, name: 'same' }))
  const idsOf = (body: Body) => body.data.map((row: Body) => row.id)
  const stable = await openSandbox({ records: { projects } })
  expect(idsOf((await stable.get('/projects?fields=id')).body)).toEqual(projects.map(project => project.id))
  expect(idsOf((await stable.get('/projects?fields=id&sortOrder=desc')).body)).toEqual(
    projects.map(project => project.id),
  )
  const random = await openSandbox({ records: { projects }, options: { ties: 'random' } })
  const first = idsOf((await random.get('/projects?fields=id')).body)
  const second = idsOf((await random.get('/projects?fields=id')).body)
  expect(second).not.toEqual(first)
  expect([...second].sort()).toEqual([...first].sort())
})

it('keeps every order correct while records are added, changed and removed', async () => {
  const own = await openSandbox({
    records: { projects: Array.from({ length: 300 }, (_, n) => ({ id: `p${n}`, name: `n${n % 90}` })) },
  })
  const names = async () => {
    const first = (await own.get('/projects?limit=200')).body.data
    const second = (await own.get('/projects?limit=200&page=2')).body.data
    return [...first, ...second].map((row: Body) => row.name)
  }
  await names()
  own.world.upsert('projects', { id: 'p7', name: 'zz' })
  own.world.upsert('projects', { id: 'new', name: 'a' })
  own.world.remove('projects', 'p8')
  const after = await names()
  expect(after).toHaveLength(300)
  expect(after).toEqual([...after].sort())
  expect([after[0], after[299]]).toEqual(['a', 'zz'])
})
