/** Companies, their competency matrix, their users, access rules, projects and sites by id, metrics. */
import { describe, expect, it } from 'vitest'
import { shortId } from '../../../src/sandbox/record.ts'
import { type Body, openSandbox, sortedBy } from '../open-sandbox.ts'

const sandbox = await openSandbox({ provokesViolations: true })
const company = sandbox.world.all('companies')[0] as Body

it('shows the config of a company when asked', async () => {
  for (const path of ['/companies', `/companies/${company.id}`]) {
    const row = async (query: string) => [(await sandbox.get(path + query)).body.data].flat()[0]
    expect((await row('')).config).toBeUndefined()
    expect((await row('?includeConfig=false')).config).toBeUndefined()
    const { config } = await row('?includeConfig=true')
    expect(Object.keys(config)).toHaveLength(40)
    expect((await sandbox.get(`${path}?includeConfig=yes`)).status).toBe(400)
  }
})

it.each(['companies', 'projects', 'sites', 'expenses'] as const)(
  'reads one of %s by id or short id',
  async name => {
    const record = sandbox.world.all(name)[0] as Body
    const byId = await sandbox.get(`/${name}/${record.id}`)
    expect(byId.body.data.id).toBe(record.id)
    expect((await sandbox.get(`/${name}/${shortId(record.id)}`)).body).toEqual(byId.body)
    expect((await sandbox.get(`/${name}/ffffffffffffffffffffffff`)).status).toBe(404)
    expect((await sandbox.get(`/${name}/${record.id}?unknown=1`)).status).toBe(400)
  },
)

it('filters projects by region, sector and text, and shows their config when asked', async () => {
  const project = sandbox.world.all('projects')[5] as Body
  for (const [name, id] of [
    ['region', project.region.id],
    ['sector', project.sector.id],
  ] as const) {
    const { data } = (await sandbox.get(`/projects?${name}=${id}&limit=200`)).body
    expect(data.length).toBeGreaterThan(0)
    expect(data.every((row: Body) => row[name].id === id)).toBe(true)
  }
  const found = (await sandbox.get(`/projects?query=${project.code.toLowerCase()}`)).body
  expect(found.data.map((row: Body) => row.id)).toEqual([project.id])
  expect(found.data[0].config).toBeUndefined()
  expect((await sandbox.get('/projects?includeConfig=true&limit=1')).body.data[0].config).toBeDefined()
  expect((await sandbox.get(`/projects/${project.id}?includeConfig=true`)).body.data.config).toBeDefined()
  expect((await sandbox.get('/projects?region=a,b')).status).toBe(400)
})

it('filters sites by project and counts them', async () => {
  for (const project of sandbox.world.all('projects').slice(0, 5) as Body[]) {
    const { meta } = (await sandbox.get(`/sites?project=${project.id}`)).body
    expect(meta.total).toBe(project.siteCount)
    expect(project.singleSite).toBe(project.siteCount === 1)
  }
})

describe('competency matrix', () => {
  const entries = sandbox.world.all('competencyMatrix') as Body[]
  const override = (mode: string) => entries.find(entry => entry.mode === mode) as Body

  it('shows the entries of the company when no project is named', async () => {
    const { data } = (await sandbox.get(`/companies/${company.id}/competency-matrix`)).body
    expect(data.company).toEqual({ id: company.id, name: company.name })
    expect(data.project).toBeUndefined()
    expect(data.entries.length).toBeGreaterThan(0)
    expect(new Set(data.entries.map((entry: Body) => entry.source))).not.toContain('project')
    expect(Object.keys(data.entries[0]).sort()).toEqual([
      'project',
      'requirements',
      'sector',
      'source',
      'trade',
    ])
  })

  it('adds the requirements of a project to those of the sector or company', async () => {
    const { companyId, project, trade, requirements } = override('additive')
    const { data } = (await sandbox.get(`/companies/${companyId}/competency-matrix?projectId=${project.id}`))
      .body
    expect(data.project).toEqual(project)
    const own = data.entries.filter((entry: Body) => entry.trade.id === trade.id)
    expect(own).toHaveLength(1)
    expect(own[0].source).toBe('project')
    expect(own[0].requirements.length).toBeGreaterThan(requirements.length)
    expect(new Set(data.entries.map((entry: Body) => entry.trade.id)).size).toBe(data.entries.length)
  })

  it('shows only the override when it replaces', async () => {
    const replacing = override('replacement')
    const { companyId, project, trade } = replacing
    const { data } = (await sandbox.get(`/companies/${companyId}/competency-matrix?projectId=${project.id}`))
      .body
    const own = data.entries.find((entry: Body) => entry.trade.id === trade.id)
    expect(own.requirements).toEqual(replacing.requirements)
  })

  it('answers 404 to a project of another company', async () => {
    const foreign = sandbox.world.all('projects').find(row => (row.company as Body).id !== company.id)
    const path = `/companies/${company.id}/competency-matrix?projectId=${foreign?.id}`
    expect((await sandbox.get(path)).status).toBe(404)
  })
})

describe.each(['user-permissions', 'user-assignments'])('%s', name => {
  const path = `/companies/${company.id}/${name}`

  it('lists project users by name then id, active and inactive', async () => {
    const { body } = await sandbox.get(`${path}?limit=200`)
    const counts = await Promise.all(
      ['active', 'inactive'].map(
        async status => (await sandbox.get(`${path}?status=${status}`)).body.meta.total,
      ),
    )
    expect(counts[0] + counts[1]).toBe(body.meta.total)
    expect(sortedBy(body.data, (row: Body) => `${row.name} ${row.id}`, 'asc')).toBe(true)
    expect(body.data[0].companyId).toBeUndefined()
    const project = body.data.flatMap((row: Body) => row.projects)[0]
    expect(Object.keys(project)).toEqual(
      name === 'user-permissions' ? ['id', 'name', 'permissions'] : ['id', 'name'],
    )
  })

  it('selects, pages and refuses', async () => {
    const { data } = (await sandbox.get(`${path}?fields=id,projects.id&limit=3&page=2`)).body
    expect(data).toHaveLength(3)
    for (const row of data) {
      expect(Object.keys(row)).toEqual(['id', 'projects'])
      for (const project of row.projects) expect(Object.keys(project)).toEqual(['id'])
    }
    for (const query of ['status=all', 'limit=201', 'sortBy=name', 'query=x']) {
      expect((await sandbox.get(`${path}?${query}`)).status, query).toBe(400)
    }
    const short = path.replace(company.id, shortId(company.id))
    expect((await sandbox.get(short)).status).toBe(200)
    expect((await sandbox.get(path.replace(company.id, 'nobody'))).status).toBe(404)
  })
})

describe('access rule mappings', () => {
  const path = '/access-rule-mappings'

  it('lists rows by role, or in the requested order', async () => {
    const { body } = await sandbox.get(`${path}?limit=200`)
    expect(sortedBy(body.data, (row: Body) => row.a, 'asc')).toBe(true)
    expect(body.data[0]).toMatchObject({ id: expect.any(String), can: expect.any(String), type: 'RBAC' })
    const byAction = (await sandbox.get(`${path}?sortBy=can&sortOrder=desc&limit=200`)).body.data
    expect(sortedBy(byAction, (row: Body) => row.can, 'desc')).toBe(true)
    const one = (await sandbox.get(`${path}?role=projectAdmin&action=timesheet.approve`)).body
    expect(one.meta.total).toBe(1)
    const searched = (await sandbox.get(`${path}?query=INVOICE&limit=200`)).body.data
    expect(searched.every((row: Body) => JSON.stringify(row).toLowerCase().includes('invoice'))).toBe(true)
  })

  it('groups by role and by rule, counting groups', async () => {
    const total = (await sandbox.get(path)).body.meta.total
    for (const [groupBy, keys] of [
      ['role', ['a', 'rules']],
      ['rule', ['can', 'rules']],
    ] as const) {
      const { data, meta } = (await sandbox.get(`${path}?groupBy=${groupBy}&limit=200&sortOrder=desc`)).body
      expect(meta.total).toBe(data.length)
      expect(data.flatMap((group: Body) => group.rules)).toHaveLength(total)
      expect(sortedBy(data, (group: Body) => group[keys[0]], 'asc')).toBe(true)
      for (const key of keys) expect(data[0]).toHaveProperty(key)
    }
    expect((await sandbox.get(`${path}?groupBy=role&limit=2&page=2`)).body.data).toHaveLength(2)
    expect((await sandbox.get(`${path}?groupBy=user`)).status).toBe(400)
  })
})

describe('recruitment metrics', () => {
  const path = '/requisitions/recruitment-metrics'

  it('shows the date of each stage and the days between stages', async () => {
    const { data } = (await sandbox.get(`${path}?limit=200`)).body
    const row = data.find((candidate: Body) => candidate.currentStage === 'assigned')
    expect(row.reqCreated).toMatch(/^\d{2}\/\d{2}\/\d{4}$/)
    expect(row.companyId ?? row.created ?? row.id).toBeUndefined()
    const day = (text: string) =>
      Date.UTC(+text.slice(6), +text.slice(3, 5) - 1, +text.slice(0, 2)) / 86_400_000
    expect(row.timeToFillDays).toBe(day(row.offerMade) - day(row.reqCreated))
    expect(row.managerReviewDays).toBe(day(row.cvReviewed) - day(row.submitted))
    expect(row.offerToStartDays).toBe(day(row.reqStart) - day(row.offerAccepted))
    const early = data.find((candidate: Body) => candidate.currentStage === 'submitted')
    expect(early).toMatchObject({ cvReviewed: '', managerReviewDays: null })
  })

  it('filters by project, agencies and created date, and sorts', async () => {
    const tracked = (sandbox.world.all('requisitions') as Body[]).flatMap(requisition =>
      (requisition.stageTracking ?? []).map((entry: Body) => ({ requisition, agency: entry.agency.id })),
    )
    const project = tracked[0].requisition.project.id
    const agencies = [...new Set(tracked.map(row => row.agency))].slice(0, 2)
    const total = async (query: string) => (await sandbox.get(`${path}?${query}`)).body.meta.total
    const count = (test: (row: Body) => boolean) => tracked.filter(test).length
    expect(await total('')).toBe(tracked.length)
    expect(await total(`project=${project}`)).toBe(count(row => row.requisition.project.id === project))
    expect(await total(`agency=${agencies}`)).toBe(count(row => agencies.includes(row.agency)))
    expect(await total('from=2026-01-01&to=2026-01-31')).toBe(
      count(row => row.requisition.createdAt.startsWith('2026-01')),
    )
    const sorted = (await sandbox.get(`${path}?sortBy=reqRef&sortOrder=asc&limit=200`)).body.data
    expect(sortedBy(sorted, (row: Body) => row.reqRef, 'asc')).toBe(true)
    expect((await sandbox.get(`${path}?metric=rows&groupBy=company,month&hoursThreshold=40`)).status).toBe(
      200,
    )
    for (const query of ['metric=nothing', 'groupBy=year', 'hoursThreshold=x', 'query=x']) {
      expect((await sandbox.get(`${path}?${query}`)).status, query).toBe(400)
    }
  })
})
