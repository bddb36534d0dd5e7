/** What keys of companies and agencies see of records read by id, and how ids and parameters are refused. */
import { describe, expect, it } from 'vitest'
import { sandboxKeys } from '../../../src/sandbox/keys/default-keys.ts'
import { type Body, openSandbox } from '../open-sandbox.ts'

const sandbox = await openSandbox({ provokesViolations: true })
const all = (name: Parameters<typeof sandbox.world.all>[0]) => sandbox.world.all(name) as Body[]
const [own, second, third] = all('agencies').map(agency => agency.id)
const [firstCompany] = all('companies')
const ONE_COMPANY = 'sandbox-one-company-key'
const status = async (path: string, key?: string) => (await sandbox.get(path, key)).status
const data = async (path: string, key?: string) => (await sandbox.get(path, key)).body.data

const reads = {
  projects: '/projects',
  sites: '/sites',
  trades: '/trades',
  rates: '/rates',
  requisitions: '/requisitions',
  assignments: '/assignments',
  expenses: '/expenses',
  creditNotes: '/credit-notes',
  purchaseOrders: '/purchase-orders',
} as const

describe.each(Object.entries(reads))('%s by id', (name, path) => {
  const records = all(name as keyof typeof reads)

  it('answers 400 to text that cannot be an id and to unknown parameters, 404 to unknown ids, 405 to other methods', async () => {
    const { id } = records[0]
    expect(await status(`${path}/not%20an%20id`)).toBe(400)
    expect(await status(`${path}/${id}?fields=id`)).toBe(400)
    expect(await status(`${path}/ffffffffffffffffffffffff`)).toBe(404)
    expect(await status(`${path}/AAAAAAAAAA`)).toBe(404)
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      expect((await sandbox.send(method, `${path}/${id}`)).status, method).toBe(405)
    }
  })

  it('hides records of companies outside the key', async () => {
    const inside = records.find(row => row.company.id === firstCompany.id)
    const outside = records.find(row => row.company.id !== firstCompany.id)
    expect(await status(`${path}/${inside.id}`, ONE_COMPANY)).toBe(200)
    expect(await status(`${path}/${outside.id}`, ONE_COMPANY)).toBe(404)
  })
})

it('shows an agency the sites of projects that it works for, and no list of them', async () => {
  const [mine] = all('timesheets').filter(row => row.agency.id === own && row.site)
  const projects = new Set(
    ['timesheets', 'assignments', 'requisitions', 'expenses', 'invoices'].flatMap(name =>
      all(name as 'timesheets').flatMap(row => [
        row.project?.id,
        ...(row.projects ?? []).map((one: Body) => one.id),
      ]),
    ),
  )
  expect(await data(`/sites/${mine.site.id}`, sandboxKeys.agency)).toEqual(
    await data(`/sites/${mine.site.id}`),
  )
  const foreign = all('sites').find(row => !projects.has(row.project.id))
  if (foreign) expect(await status(`/sites/${foreign.id}`, sandboxKeys.agency)).toBe(404)
  expect(await status('/sites', sandboxKeys.agency)).toBe(403)
})

it('shows an agency its own assignments and credit notes, but none from a provider to its client', async () => {
  for (const name of ['assignments', 'creditNotes'] as const) {
    const mine = all(name).find(row => row.agency.id === own && row.creditNoteType !== 'mspToClient')
    const foreign = all(name).find(row => row.agency.id !== own)
    expect(await data(`${reads[name]}/${mine.id}`, sandboxKeys.agency)).toEqual(
      await data(`${reads[name]}/${mine.id}`),
    )
    expect(await status(`${reads[name]}/${foreign.id}`, sandboxKeys.agency)).toBe(404)
  }
  const toClient = all('creditNotes').find(
    row => row.agency.id === own && row.creditNoteType === 'mspToClient',
  )
  expect(await status(`/credit-notes/${toClient.id}`)).toBe(200)
  expect(await status(`/credit-notes/${toClient.id}`, sandboxKeys.agency)).toBe(404)
})

describe('requisitions', () => {
  const tracks = (row: Body) => row.stageTracking !== undefined
  const shared = all('requisitions').find(
    row =>
      tracks(row) &&
      row.agencies.length > 1 &&
      row.agencies.some((agency: Body) => agency.id === own && agency.submissions.length > 0) &&
      row.agencies.some((agency: Body) => agency.id !== own && agency.submissions.length > 0),
  )

  it('show an agency only its own part', async () => {
    const path = `/requisitions/${shared.id}?includeStageTracking=true`
    const seen = await data(path, sandboxKeys.agency)
    expect(seen.agencies.map((agency: Body) => agency.id)).toEqual([own])
    expect(seen.stageTracking.length).toBeGreaterThan(0)
    expect(seen.stageTracking.every((one: Body) => one.agency.id === own)).toBe(true)
    const whole = await data(path)
    expect(whole.agencies.length).toBeGreaterThan(1)
    expect(whole.stageTracking.length).toBeGreaterThan(seen.stageTracking.length)
    const without = all('requisitions').find(row => row.agencies.every((agency: Body) => agency.id !== own))
    expect(await status(`/requisitions/${without.id}`, sandboxKeys.agency)).toBe(404)
  })

  it('show an agency only its own answers', async () => {
    const isMine = (answer: Body) => answer.agency.id === own
    const answered = all('requisitions').find(
      row =>
        row.agencies.some((agency: Body) => agency.id === own) &&
        row.submissionAnswers.some((answer: Body) => !isMine(answer)),
    )
    const seen = await data(`/requisitions/${answered.id}`, sandboxKeys.agency)
    expect(seen.submissionAnswers).toEqual(answered.submissionAnswers.filter(isMine))
    expect(seen.submissionAnswers.length).toBeLessThan(answered.submissionAnswers.length)
  })

  it('show stages when asked, where the company tracks them', async () => {
    expect(await data(`/requisitions/${shared.id}`)).not.toHaveProperty('stageTracking')
    expect(await data(`/requisitions/${shared.id}?includeStageTracking=false`)).not.toHaveProperty(
      'stageTracking',
    )
    expect(await data(`/requisitions/${shared.id}?includeStageTracking=true`)).toHaveProperty('stageTracking')
    const untracked = all('requisitions').find(row => !tracks(row) && row.agencies.length > 0)
    const path = `/requisitions/${untracked.id}?includeStageTracking=true`
    expect(await data(path)).not.toHaveProperty('stageTracking')
    expect(await status(`/requisitions/${shared.id}?includeStageTracking=1`)).toBe(400)
  })
})

describe('trades and rates', () => {
  const isGeneric = (rate: Body) => !rate.agency && !rate.project
  const agencyRate = (test: (id: string) => boolean) =>
    all('rates').find(row => row.agency && test(row.agency.id))

  it('adds rates and the matrix of company and sectors when asked', async () => {
    const trade = all('trades').find(row => all('rates').filter(rate => rate.trade.id === row.id).length > 2)
    const plain = await data(`/trades/${trade.id}`)
    expect(plain).not.toHaveProperty('rates')
    expect(plain).not.toHaveProperty('competencyMatrix')
    const full = await data(`/trades/${trade.id}?includeRates=true&includeCompetencyMatrix=true`)
    expect(full.rates.map((rate: Body) => rate.id)).toEqual(
      all('rates')
        .filter(rate => rate.trade.id === trade.id)
        .map(rate => rate.id),
    )
    expect(full.rates[0]).not.toHaveProperty('createdAt')
    const [entry] = full.competencyMatrix
    expect(Object.keys(entry)).toEqual(['sector', 'requirements'])
    expect(entry.sector).toBe(null)
    const single = await data(`/rates/${full.rates[0].id}`)
    expect(single).toMatchObject({ ...full.rates[0], createdAt: expect.any(String) })
  })

  it('shows an agency generic rates and its own', async () => {
    const mine = agencyRate(id => id === own)
    const foreign = agencyRate(id => id !== own)
    const generic = all('rates').find(isGeneric)
    expect(await status(`/rates/${mine.id}`, sandboxKeys.agency)).toBe(200)
    expect(await status(`/rates/${generic.id}`, sandboxKeys.agency)).toBe(200)
    expect(await status(`/rates/${foreign.id}`, sandboxKeys.agency)).toBe(404)
    const trade = await data(`/trades/${foreign.trade.id}?includeRates=true`, sandboxKeys.agency)
    expect(trade.rates.length).toBeGreaterThan(0)
    expect(trade.rates.every((rate: Body) => !rate.agency || rate.agency.id === own)).toBe(true)
  })

  it('shows an agency the rates of projects it works on', async () => {
    const worksOn = new Set(
      [...all('assignments'), ...all('timesheets'), ...all('expenses')]
        .filter(row => row.agency.id === own)
        .map(row => row.project.id),
    )
    for (const row of all('requisitions')) {
      if (row.agencies.some((agency: Body) => agency.id === own)) worksOn.add(row.project.id)
    }
    const ofProjects = all('rates').filter(rate => rate.project && !rate.agency)
    expect(ofProjects.length).toBeGreaterThan(0)
    for (const rate of ofProjects) {
      expect(await status(`/rates/${rate.id}`, sandboxKeys.agency)).toBe(
        worksOn.has(rate.project.id) ? 200 : 404,
      )
    }
  })
})

it('lets a key of several agencies see the records of each', async () => {
  const key = 'sandbox-agencies-key'
  const seen = (await data('/me', key)).agencies.map((agency: Body) => agency.id)
  expect(seen).toEqual([own, second, third])
  for (const id of seen) {
    const assignment = all('assignments').find(row => row.agency.id === id)
    expect(await status(`/assignments/${assignment.id}`, key)).toBe(200)
  }
})
