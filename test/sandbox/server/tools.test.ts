/** The tools of the sandbox, called by the package's own client over real HTTP. */
import { request } from 'node:http'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { afterAll, expect, test } from 'vitest'
import { endpoints } from '../../../src/sandbox/endpoints/endpoints.ts'
import { sandboxKeys } from '../../../src/sandbox/keys/default-keys.ts'
import type { CollectionName } from '../../../src/sandbox/world.ts'
import { sendRaw } from '../../serve/raw-request.ts'
import { type Body, openSandbox } from '../open-sandbox.ts'

const sandbox = await openSandbox({ scale: 0.02, provokesViolations: true })
const address = new URL('/mcp', sandbox.url)
const clients: Client[] = []
afterAll(() => Promise.all(clients.map(client => client.close())))

async function connected(key?: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` }
  await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }) as Transport)
  clients.push(client)
  return client
}

const company = await connected(sandboxKeys.company)
const { tools } = await company.listTools()
const call = async (name: string, given: Body = {}, client = company): Promise<Body> =>
  client.callTool({ name: `open_api_${name}`, arguments: given })

const offered = endpoints.flatMap(({ tool }) => (tool ? [`open_api_${tool}`] : []))

test('offers the operations that have a tool name, with the parameters of the API', () => {
  expect(offered.length).toBeGreaterThan(20)
  expect(tools.map(({ name }) => name)).toEqual(offered)
  expect(tools.map(({ name }) => name)).not.toContain('getKey')
  const timesheets = tools.find(({ name }) => name === 'open_api_list_timesheets')
  expect(timesheets?.inputSchema).toMatchObject({ additionalProperties: false })
  expect(timesheets?.inputSchema.properties).toMatchObject({
    limit: { type: 'integer', maximum: 200, default: 50 },
    includeTimelogs: { type: 'boolean' },
    from: { type: 'string', format: 'date' },
  })
  expect(tools.find(({ name }) => name === 'open_api_get_trade')?.inputSchema.required).toEqual(['id'])
})

/** Where its id is from: what lies below a company is asked for by the id of the company. */
const collectionOf = (name: string): CollectionName => {
  const endpoint = endpoints.find(({ tool }) => name === `open_api_${tool}`)
  return endpoint?.path.startsWith('/companies/') ? 'companies' : (endpoint?.collection as CollectionName)
}

test.each(tools.map(({ name, inputSchema }) => ({ name, inputSchema })))(
  '$name answers',
  async ({ name, inputSchema }) => {
    const id = inputSchema.required ? sandbox.world.at(collectionOf(name), 0)?.id : undefined
    const result: Body = await company.callTool({ name, arguments: id === undefined ? {} : { id } })
    expect(result.isError, JSON.stringify(result.content)).toBeFalsy()
    expect(result.structuredContent.success).toBe(true)
    expect(JSON.parse(result.content[0].text)).toEqual(result.structuredContent)
  },
)

test('returns what the API returns; numbers, flags and lists are passed as they are', async () => {
  const ids = sandbox.world.all('companies').map(({ id }) => id)
  const { structuredContent } = await call('list_timesheets', {
    limit: 3,
    includeTimelogs: true,
    company: ids,
  })
  const { body } = await sandbox.get(`/timesheets?limit=3&includeTimelogs=true&company=${ids.join(',')}`)
  expect(structuredContent).toEqual(body)
})

test.each([
  ['list_timesheets', { limit: 500 }, /^400 BAD_REQUEST: limit: /],
  ['list_timesheets', { colour: 'red' }, /^400 BAD_REQUEST: unknown parameter colour$/],
  ['list_timesheets', { status: { not: 'pending' } }, /^status: is neither text, number/],
  ['get_trade', {}, /^id: is required$/],
  ['get_trade', { id: 'nothing' }, /^404 NOT_FOUND: trade not found$/],
])('%s %j is an error with its reason', async (name, given, expected) => {
  const { isError, content } = await call(name, given)
  expect([isError, content[0].text]).toEqual([true, expect.stringMatching(expected)])
})

test('sees only what its key may see', async () => {
  const agency = await connected(sandboxKeys.agency)
  expect((await call('list_projects', {}, agency)).content[0].text).toMatch(/^403 FORBIDDEN: agency-scoped/)
  const nobody = await connected()
  expect((await nobody.listTools()).tools).toHaveLength(offered.length)
  expect((await call('list_sites', {}, nobody)).content[0].text).toMatch(
    /^401 UNAUTHORIZED: .*; connect with the header Authorization: Bearer KEY$/,
  )
})

test('a tool that does not exist is an error of the protocol', async () => {
  await expect(call('delete_everything')).rejects.toThrow('there is no tool open_api_delete_everything')
})

test('counts against the limit of its key', async () => {
  const small = await openSandbox({ scale: 0.01, rateLimitPerMinute: 2, provokesViolations: true })
  const client = new Client({ name: 'test', version: '1' })
  const requestInit = { headers: { authorization: `Bearer ${sandboxKeys.company}` } }
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', small.url), { requestInit }) as Transport,
  )
  clients.push(client)
  const texts: string[] = []
  for (let turn = 0; turn < 3; turn += 1) texts.push((await call('list_sites', {}, client)).content[0].text)
  expect(texts.map(text => text.slice(0, 16))).toEqual([
    '{"success":true,',
    '{"success":true,',
    '429 RATE_LIMITED',
  ])
})

/** `fetch` sets these headers itself. */
const posted = (headers: Record<string, string>): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const type = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const sent = request(address, { method: 'POST', headers: { ...type, ...headers } }, response => {
      response.resume()
      resolve(response.statusCode)
    })
    sent.on('error', reject)
    sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }))
  })

test('serves this machine only, by the Host and Origin of the request', async () => {
  expect(await posted({})).toBe(200)
  expect(await posted({ origin: 'http://localhost:3000' })).toBe(200)
  expect(await posted({ host: 'evil.example' })).toBe(403)
  expect(await posted({ origin: 'https://evil.example' })).toBe(403)
  const { statuses } = await sendRaw(address.href, [
    'POST http://evil.example/mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n',
  ])
  expect(statuses).toEqual([403])
  expect((await fetch(address)).status).toBe(405)
})
