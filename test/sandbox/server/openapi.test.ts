/** The document that the sandbox serves, and every kind of answer of every operation against it. */
import { request } from 'node:http'
import { describe, expect, it } from 'vitest'
import { largestBody } from '../../../src/lib/file-kind.ts'
import { endpoints } from '../../../src/sandbox/endpoints/endpoints.ts'
import { sandboxKeys } from '../../../src/sandbox/keys/default-keys.ts'
import type { CollectionName } from '../../../src/sandbox/world.ts'
import { type Body, openSandbox } from '../open-sandbox.ts'
import { document, PDF, pdf, person, png, writer } from '../writes/worker-inputs.ts'
import { answerSchemas } from './answer-schemas.ts'

const size = { seed: 1, scale: 0.02, today: '2026-11-02' }
const sandbox = await openSandbox({ ...size, provokesViolations: true })
const { document: api, problems } = await answerSchemas(sandbox.url)
const found: string[] = []

async function visit(path: string, key = sandboxKeys.company, expected = 200): Promise<Body> {
  const { status, body } = await sandbox.get(path, key)
  expect([path, status]).toEqual([path, expected])
  found.push(...problems({ method: 'GET', path, status, body }))
  return body
}

/** What was wrong with the answers since the last look, each once. */
const wrong = () => [...new Set(found.splice(0))]

const operations: Body[] = Object.entries(api.paths).flatMap(([path, methods]) =>
  Object.entries(methods as Body).map(([method, operation]) => ({ path, method, ...(operation as Body) })),
)
/** Where the id in a path is from. */
const collectionOf = (path: string): CollectionName =>
  path.startsWith('/companies/')
    ? 'companies'
    : (endpoints.find(one => one.path === path.replace('{id}', ':id'))?.collection as CollectionName)

/** Records of each collection that are read by id; of larger ones, these are spread over the whole. */
const MOST = 60
const reads = operations.filter(({ method, path }) => method === 'get' && path.includes('{id}'))
const lists = operations.filter(
  ({ method, parameters }) => method === 'get' && parameters.some(({ name }: Body) => name === 'page'),
)

function flagsOf({ parameters }: Body): string {
  const flags = parameters.filter(({ schema }: Body) => schema.type === 'boolean')
  return flags.map(({ name }: Body) => `${name}=true`).join('&')
}

function idsOf(path: string): string[] {
  const all = sandbox.world.all(collectionOf(path)).map(({ id }) => String(id))
  const step = Math.max(1, Math.floor(all.length / MOST))
  return all.filter((_, index) => index % step === 0)
}

async function allPages(path: string, query: string, key = sandboxKeys.company): Promise<number> {
  let rows = 0
  for (let page = 1; ; page += 1) {
    const { data, meta } = await visit(`${path}?limit=200&page=${page}&${query}`, key)
    rows += data.length
    if (data.length < 200) {
      expect(rows, path).toBe(meta.total)
      return rows
    }
  }
}

describe('the document', () => {
  it('has every operation once, with a summary and described parameters', () => {
    const declared = endpoints.map(({ method, path }) => `${method} ${path.replace(':id', '{id}')}`)
    expect(operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`).sort()).toEqual(
      declared.sort(),
    )
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length)
    for (const { path, method, summary, parameters } of operations) {
      expect(summary, path).toMatch(/\.$/)
      for (const { name, in: place, description, schema } of parameters) {
        expect(description, `${method} ${path} ${name}`).toMatch(/\.$/)
        expect(schema.type, `${path} ${name}`).toBeTypeOf('string')
        expect(place).toBe(path.includes(`{${name}}`) ? 'path' : 'query')
      }
    }
  })

  it('names defaults, bounds and values of parameters', () => {
    const named = (path: string, name: string) =>
      api.paths[path].get.parameters.find((parameter: Body) => parameter.name === name).schema
    expect(named('/timesheets', 'limit')).toEqual({ type: 'integer', minimum: 1, maximum: 200, default: 50 })
    expect(named('/timesheets', 'dateField').default).toBe('createdAt')
    expect(named('/users', 'role').enum).toContain('ldAdmin')
    expect(named('/invoices', 'from')).toEqual({ type: 'string', format: 'date' })
    expect(named('/requisitions/recruitment-metrics', 'hoursThreshold').default).toBe(48)
  })

  it('is served without a key', async () => {
    const response = await fetch(new URL('/openapi.json', sandbox.url))
    expect([response.status, ((await response.json()) as Body).openapi]).toEqual([200, '3.1.0'])
  })
})

describe('answers', () => {
  it.each(lists.filter(({ path }) => !path.includes('{id}')))(
    'of $operationId match the document, all pages',
    async list => {
      const { path } = list
      expect(await allPages(path, flagsOf(list))).toBeGreaterThan(0)
      await visit(`${path}?fields=id,company.name,projects.id`)
      if (list['x-key-kind'] === 'any') await allPages(path, '', sandboxKeys.agency)
      expect(wrong()).toEqual([])
    },
  )

  it.each(reads)('of $operationId match the document, by id', async read => {
    const ids = idsOf(read.path)
    expect(ids.length).toBeGreaterThan(0)
    for (const id of ids) {
      const path = read.path.replace('{id}', id)
      await visit(`${path}?${flagsOf(read)}`)
      await visit(path)
    }
    expect(wrong()).toEqual([])
  })

  it('of single reads by an agency key match the document', async () => {
    let seen = 0
    for (const { path } of reads.filter(read => read['x-key-kind'] === 'any')) {
      for (const id of idsOf(path)) {
        const one = path.replace('{id}', id)
        const { status, body } = await sandbox.get(one, sandboxKeys.agency)
        found.push(...problems({ method: 'GET', path: one, status, body }))
        if (status === 200) seen += 1
      }
    }
    expect([seen > 20, wrong()]).toEqual([true, []])
  })

  it('of /me match the document, for both kinds of key', async () => {
    for (const key of [sandboxKeys.company, sandboxKeys.agency, 'sandbox-loopback-key'])
      await visit('/me', key)
    expect(wrong()).toEqual([])
  })

  it('of metrics match the document, in every grouping', async () => {
    const path = '/requisitions/recruitment-metrics'
    for (const metric of ['rows', 'timeToFill', 'workersOverHours'])
      for (const groupBy of [
        'all',
        'company',
        'project',
        'agency',
        'month',
        'week',
        'company,month',
        'agency,week',
      ])
        await visit(`${path}?limit=200&metric=${metric}&groupBy=${groupBy}`)
    await visit(`${path}?metric=timeToFill&from=2001-01-01&to=2001-01-02`)
    expect(wrong()).toEqual([])
  })

  it('of grouped mappings and of matrices of projects match the document', async () => {
    for (const groupBy of ['role', 'rule']) await visit(`/access-rule-mappings?groupBy=${groupBy}`)
    for (const { id, company } of sandbox.world.all('projects') as Body[])
      await visit(`/companies/${company.id}/competency-matrix?projectId=${id}`)
    expect(wrong()).toEqual([])
  })

  it('of writes match the document', async () => {
    const write = writer(sandbox.url)
    const send = async (target: string, body: unknown, key = sandboxKeys.agency): Promise<Body> => {
      const answer = await write(target, body, key)
      const [method = '', path = ''] = target.split(' ')
      found.push(...problems({ method, path, ...answer }))
      return answer
    }
    const one = person({ attachments: [document('CV'), document('Driving licence', { files: [pdf, png] })] })
    const { status, body } = await send('POST /workers', one)
    expect(status).toBe(200)
    expect((await send('POST /workers', { ...one, agencyId: 'other' })).status).toBe(409)
    expect((await send(`PATCH /workers/${body.data.id}`, { phone: '7700900001' })).status).toBe(200)
    const file = { fileName: 'a.pdf', contentType: 'application/pdf', size: PDF.length }
    const upload = { ...file, resource: 'worker', recordId: body.data.id, purpose: 'attachments' }
    expect((await send('POST /files/uploads', upload)).status).toBe(200)
    expect((await send('POST /files/uploads', { ...upload, size: 0 })).status).toBe(400)
    expect((await send('POST /workers', {})).status).toBe(400)
    expect((await send('POST /workers', one, sandboxKeys.company)).status).toBe(403)
    expect((await send('PATCH /workers/nobody', { active: true })).status).toBe(404)
    expect(
      (await send('POST /files/uploads', { ...upload, recordId: 'nobody' }, sandboxKeys.finance)).status,
    ).toBe(403)
    expect(wrong()).toEqual([])
  })
})

describe('refusals', () => {
  it('of every operation match the document', async () => {
    const statuses = new Set<number>()
    for (const { path, method } of operations) {
      const target = path.replace('{id}', '000000000000000000000000')
      for (const [query, key] of [
        ['?nonsense=1', sandboxKeys.company],
        ['?nonsense=1', sandboxKeys.agency],
        ['', 'nobody'],
        ['', sandboxKeys.company],
        ['', sandboxKeys.agency],
        ['', 'sandbox-elsewhere-key'],
      ]) {
        const { status, body } = await sandbox.get(target + query, key)
        const shown = method === 'get' ? { method, path, status } : { method, path, status: 405 }
        if (method !== 'get') expect(status).toBe(405)
        if (status === 200) continue
        statuses.add(status)
        found.push(...problems({ ...shown, body }))
      }
      const other = await sandbox.send('DELETE', target)
      expect(other.status).toBe(405)
      found.push(...problems({ method, path, status: 405, body: other.body }))
    }
    expect([...statuses].sort()).toEqual([400, 401, 403, 404, 405])
    expect(wrong()).toEqual([])
  })

  it('of bodies that are too large, of too many requests and of errors match the document', async () => {
    const tooLarge = await new Promise<Body>((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${sandboxKeys.agency}`,
        'content-type': 'application/json',
        'content-length': largestBody + 1,
      }
      const sent = request(`${sandbox.url}/workers`, { method: 'POST', headers }, async response => {
        const parts = await response.toArray()
        sent.destroy()
        resolve({ status: response.statusCode, body: JSON.parse(Buffer.concat(parts).toString()) })
      })
      sent.on('error', reject)
      sent.flushHeaders()
    })
    expect(tooLarge.status).toBe(413)
    const broken = await openSandbox({
      records: { timesheets: [{ id: 'a', toJSON: 1n }] },
      rateLimitPerMinute: 2,
      provokesViolations: true,
    })
    const answers = [await broken.get('/timesheets'), await broken.get('/me'), await broken.get('/me')]
    expect(answers.map(({ status }) => status)).toEqual([500, 200, 429])
    expect(problems({ method: 'POST', path: '/workers', ...tooLarge })).toEqual([])
    expect(problems({ method: 'GET', path: '/timesheets', ...(answers[0] as Body) })).toEqual([])
    expect(problems({ method: 'GET', path: '/me', ...(answers[2] as Body) })).toEqual([])
  })
})

it('reports an undeclared field, in records and around them', async () => {
  for (const where of ['records', 'nested', 'envelope'] as const) {
    const grown = await openSandbox({ ...size, options: { extra: 1, 'extra-in': where } })
    const path = '/timesheets?includeTimelogs=true'
    const { status, body } = await grown.get(path)
    expect(problems({ method: 'GET', path, status, body }).join('\n'), where).toMatch(
      /additional ?properties/i,
    )
  }
})
