/** What the rows are shown on: one sandbox of two companies, with a key for each way of being let in or not. */

import { seedOf } from '../../src/sandbox/data/draw.ts'
import { makeAgencies, makeCompanies } from '../../src/sandbox/data/master/companies.ts'
import { type ApiKey, readScopes } from '../../src/sandbox/keys/keys.ts'
import { type Body, type OpenSandbox, openSandbox } from '../sandbox/open-sandbox.ts'
import { OPERATIONS } from './operations.ts'

const size = { seed: 1, scale: 0.3, today: '2026-11-02' }
const seed = seedOf(size)
export const companies = makeCompanies(seed).map(({ id }) => id) as [string, string]
export const agencies = makeAgencies(seed).map(({ id }) => id) as [string, string, string]

const writeScopes = ['write:workers', 'write:invoices']
const company = { kind: 'company', scopes: [...readScopes, 'write:invoices'] } as const
const agency = { kind: 'agency', scopes: [...readScopes, ...writeScopes], agencies: [agencies[0]] } as const

const keys = {
  company,
  agency,
  'several agencies': { ...agency, agencies: [agencies[0], agencies[1]] },
  'one company': { ...company, companies: [companies[0]] },
  'company without scopes': { ...company, scopes: [] },
  'agency without scopes': { ...agency, scopes: [] },
  revoked: { ...company, revoked: true },
  expired: { ...company, expiresAt: '2020-01-01T00:00:00.000Z' },
  'not yet expired': { ...company, expiresAt: '2030-01-01T00:00:00.000Z' },
  'another address': { ...company, ipAllowlist: ['192.0.2.7'] },
  'another range': { ...company, ipAllowlist: ['10.0.0.0/8'] },
  'another address, agency': { ...agency, ipAllowlist: ['192.0.2.7'] },
  'this address': { ...company, ipAllowlist: ['127.0.0.1'] },
  'this range': { ...company, ipAllowlist: ['127.0.0.0/8'] },
  'inactive owner': { ...company, ownerActive: false },
  'unverified owner': { ...company, ownerVerified: false },
  'ten a minute': { ...company, rateLimitPerMinute: 10 },
  'ten a day': { ...company, rateLimitPerDay: 10 },
} as const satisfies Readonly<Record<string, Omit<ApiKey, 'key'>>>

/** A key in the text of a header has no spaces. */
const textOf = (name: string) => name.replaceAll(/[ ,{}/]+/g, '-')

export type KeyName = keyof typeof keys | `without ${string}` | `once ${string}`

/** For each scope a key without it; for each operation a key that may ask once a minute. */
const derived: readonly ApiKey[] = [
  ...[...readScopes, ...writeScopes].map(scope => ({
    ...(scope === 'write:workers' ? agency : company),
    key: textOf(`without ${scope}`),
    scopes: [...readScopes, ...writeScopes].filter(other => other !== scope),
  })),
  ...OPERATIONS.map(({ name }) => ({
    ...(name.startsWith('GET') ? company : agency),
    key: textOf(`once ${name}`),
    rateLimitPerMinute: 1,
  })),
]

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Body
}

interface Asked {
  readonly key?: KeyName | null | undefined
  readonly body?: unknown
}

export interface Stand {
  readonly sandbox: OpenSandbox
  /** `target` is a method and a path: `GET /sites?limit=1`. Without a key the company's; with null none. */
  send(target: string, asked?: Asked): Promise<Answer>
  get(path: string, key?: KeyName): Promise<Answer>
  /** Every row of a list, page after page; asked for once, as nothing here changes what lists show. */
  list(path: string, query?: string, key?: KeyName): Promise<Body[]>
  /** Moves the sandbox's clock. */
  wait(ms: number): void
  readonly keyText: (name: KeyName) => string
}

export async function openStand(): Promise<Stand> {
  let now = Date.UTC(2026, 10, 2, 12)
  const sandbox = await openSandbox({
    ...size,
    clock: { now: () => now, sleep: async () => {} },
    keys: [...Object.entries(keys).map(([name, key]) => ({ ...key, key: textOf(name) })), ...derived],
    provokesViolations: true,
  })
  addRareRecords(sandbox)
  const send = sender(sandbox.url)
  const listed = new Map<string, Body[]>()
  return {
    sandbox,
    send,
    get: (path, key) => send(`GET ${path}`, { key }),
    list: async (path, query = '', key) => {
      const known = listed.get(`${path}?${query} ${key}`)
      if (known) return known
      const rows: Body[] = []
      for (let page = 1; ; page += 1) {
        const { status, body } = await send(`GET ${path}?limit=200&page=${page}${query && `&${query}`}`, {
          key,
        })
        if (status !== 200) throw new Error(`${path}?${query}: ${status} ${body.error.message}`)
        rows.push(...body.data)
        if (body.data.length === 0 || rows.length >= body.meta.total) break
      }
      listed.set(`${path}?${query} ${key}`, rows)
      return rows
    },
    wait: ms => {
      now += ms
    },
    keyText: textOf,
  }
}

function sender(url: string) {
  return async (target: string, { key = 'company', body }: Asked = {}): Promise<Answer> => {
    const [method = '', path = ''] = target.split(' ')
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${textOf(key)}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: body instanceof Uint8Array ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    }
  }
}

/** Values that generated data of this size has nowhere, so that no filter is shown on nothing. */
function addRareRecords({ world }: OpenSandbox): void {
  const first = (name: 'companies' | 'invoices') => world.all(name)[0] as Body
  const old = '2021-03-04T05:06:07.000Z'
  const idle = { id: 'idle-company', name: 'Idle Works Ltd', active: false, createdAt: old, updatedAt: old }
  world.upsert('companies', { ...first('companies'), ...idle, stageTracking: false })
  const msp = { id: 'msp-1', name: 'Quillfeather Managed' }
  const rare = [
    { invoiceType: 'supplierToMsp', mspInvoiceType: 'payable' },
    { invoiceType: 'mspToClient', mspInvoiceType: 'receivable' },
  ]
  for (const parts of rare) {
    const named = { id: `rare-${parts.mspInvoiceType}`, reference: `INV-${parts.mspInvoiceType}` }
    world.upsert('invoices', { ...first('invoices'), ...named, ...parts, msp, status: 'pending' })
  }
}
