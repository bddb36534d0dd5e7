/** POST /files/uploads, the address it gives out, and the token on its way into a worker's document. */
import { beforeEach, describe, expect, it } from 'vitest'
import { seedOf } from '../../../src/sandbox/data/draw.ts'
import { makeAgencies } from '../../../src/sandbox/data/master/companies.ts'
import { defaultKeys, sandboxKeys } from '../../../src/sandbox/keys/default-keys.ts'
import type { ApiKey } from '../../../src/sandbox/keys/keys.ts'
import { shortId } from '../../../src/sandbox/record.ts'
import { type Body, openSandbox } from '../open-sandbox.ts'
import { document, PDF, PNG, person, writer } from './worker-inputs.ts'

let now = Date.UTC(2026, 10, 2, 12)
beforeEach(() => {
  now = Date.UTC(2026, 10, 2, 12)
})
const size = { seed: 1, scale: 0.1, today: '2026-11-02' }
const [first, second] = makeAgencies(seedOf(size)).map(({ id }) => id) as [string, string]
const [companyKey, agencyKey, financeKey] = defaultKeys as readonly [ApiKey, ApiKey, ApiKey]
const sandbox = await openSandbox({
  provokesViolations: true,
  ...size,
  clock: { now: () => now, sleep: async () => {} },
  keys: [
    companyKey,
    agencyKey,
    financeKey,
    { ...companyKey, key: 'writing-company', scopes: ['write:workers'] },
    { ...agencyKey, key: 'same-agency' },
    { ...agencyKey, key: 'two-agencies', agencies: [first, second] },
    { ...agencyKey, key: 'reading-agency', scopes: [] },
  ],
})
const write = writer(sandbox.url)
const newWorker = async (): Promise<string> =>
  (await write('POST /workers', person(), sandboxKeys.agency)).body.data.id
const worker = await newWorker()
const declared = (changes: Body = {}): Body => ({
  resource: 'worker',
  recordId: worker,
  purpose: 'attachments',
  fileName: 'aid.pdf',
  contentType: 'application/pdf',
  size: PDF.length,
  ...changes,
})
const declare = (changes: Body = {}, key = sandboxKeys.agency, query = '') =>
  write(`POST /files/uploads${query}`, declared(changes), key)
const granted = async (changes: Body = {}, key = sandboxKeys.agency, query = ''): Promise<Body> => {
  const { status, body } = await declare(changes, key, query)
  expect([status, body.error]).toEqual([200, undefined])
  return body.data
}
const put = (url: string, bytes: Buffer, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'PUT', body: bytes, headers: { 'content-type': 'application/pdf', ...headers } })
const firstAid = (uploadToken: string, changes: Body = {}) => ({
  attachments: [document('Site first aid', { files: [{ fileName: 'aid.pdf', uploadToken, ...changes }] })],
})
const attach = (body: Body, id = worker, key = sandboxKeys.agency) => write(`PATCH /workers/${id}`, body, key)

it('returns instructions that are valid for 900 seconds', async () => {
  const { body } = await declare()
  expect(body).toEqual({
    success: true,
    data: {
      uploadUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\//),
      uploadToken: expect.stringMatching(/^[\w-]{32}$/),
      method: 'PUT',
      headers: { 'Content-Type': 'application/pdf' },
      expiresIn: 900,
    },
    meta: {},
  })
  expect(body.data.uploadUrl).not.toContain(body.data.uploadToken)
})

describe('a declaration', () => {
  it.each([
    [{ resource: 'expense' }, 'resource: is neither'],
    [{ recordId: undefined }, 'recordId: is required'],
    [{ purpose: 'payment' }, 'purpose: is not attachments or rightToWork'],
    [{ fileName: 'aid' }, 'fileName: is not a file name'],
    [{ fileName: '' }, 'fileName: is not a file name'],
    [{ fileName: `${'x'.repeat(252)}.pdf` }, 'fileName: is not'],
    [{ contentType: 'application/zip' }, 'contentType: is not one of'],
    [{ size: 0 }, 'size: is below'],
    [{ size: 20_971_521 }, 'size: is above'],
    [{ size: 1.5 }, 'size: is not a whole number'],
    [{ size: '9' }, 'size: is not a whole number'],
    [{ md5: 'x' }, 'md5: is not a field'],
  ])('%j', async (changes, reason) => {
    const { status, body } = await declare(changes)
    expect([status, body.error.message]).toEqual([400, expect.stringContaining(reason)])
  })

  it('of the largest and the smallest file', async () => {
    await granted({ size: 20_971_520, fileName: `${'x'.repeat(251)}.pdf` })
    await granted({ size: 1, recordId: shortId(worker) })
  })

  it('needs the write scope of its resource, and for workers an agency key', async () => {
    for (const key of [sandboxKeys.company, 'reading-agency', 'writing-company']) {
      expect((await declare({}, key)).status, key).toBe(403)
    }
    expect((await declare({ resource: 'invoice', purpose: 'payment' }, sandboxKeys.company)).status).toBe(403)
  })

  it('must name the agency when the key has several', async () => {
    expect((await declare({}, 'two-agencies')).body.error.message).toMatch(/^agency: is required/)
    expect((await declare({}, 'two-agencies', `?agency=${second}`)).status).toBe(404)
    expect((await declare({}, 'two-agencies', '?agency=ffffffffffffffffffffffff')).status).toBe(404)
    await granted({}, 'two-agencies', `?agency=${first}`)
  })

  it('answers 404 when the record does not exist', async () => {
    expect((await declare({ recordId: 'ffffffffffffffffffffffff' })).status).toBe(404)
  })
})

describe('for an invoice', () => {
  const invoices = () => sandbox.world.all('invoices') as Body[]
  const pending = invoices().find(({ status }) => status === 'pending')
  const payment = (recordId: string, changes: Body = {}) => ({
    resource: 'invoice',
    recordId,
    purpose: 'payment',
    ...changes,
  })

  it('takes a payment while it is pending', async () => {
    await granted(payment(pending.id), sandboxKeys.finance)
    await granted(payment(shortId(pending.id)), sandboxKeys.finance, `?company=${pending.company.id}`)
    const confirmed = invoices().find(({ status }) => status === 'confirmed')
    expect((await declare(payment(confirmed.id), sandboxKeys.finance)).body.error.message).toMatch(
      /is confirmed/,
    )
    expect(
      (await declare(payment(pending.id, { purpose: 'attachments' }), sandboxKeys.finance)).body.error
        .message,
    ).toMatch(/^purpose: is not payment/)
  })

  it('must belong to the company that the request names', async () => {
    const other = { ...sandbox.world.get('companies', pending.company.id), id: 'bbbbbbbbbbbbbbbbbbbbbbbb' }
    sandbox.world.upsert('companies', other)
    expect((await declare(payment(pending.id), sandboxKeys.finance, `?company=${other.id}`)).status).toBe(404)
    expect((await declare(payment(pending.id), sandboxKeys.finance, '?company=nobody')).status).toBe(403)
  })

  it('follows the configuration of the company for agencies', async () => {
    const own = {
      ...pending,
      agency: { id: first, name: 'x' },
      id: 'aaaaaaaaaaaaaaaaaaaaaaaa',
      invoiceType: 'supplierToClient',
    }
    sandbox.world.upsert('invoices', own)
    expect((await declare(payment(own.id))).status).toBe(403)
    const company = sandbox.world.get('companies', own.company.id) as Body
    const supplierActions = {
      ...company.config.supplierActions,
      markInvoicePaid: { company: true, supplier: true },
    }
    sandbox.world.upsert('companies', { ...company, config: { ...company.config, supplierActions } })
    await granted(payment(own.id))
    sandbox.world.upsert('invoices', { ...own, invoiceType: 'mspToClient' })
    expect((await declare(payment(own.id))).status).toBe(404)
    sandbox.world.upsert('invoices', { ...own, agency: { id: second, name: 'x' } })
    expect((await declare(payment(own.id))).status).toBe(404)
  })
})

describe('the upload address', () => {
  it('accepts exactly the declared file, without a key', async () => {
    const { uploadUrl } = await granted()
    expect((await put(uploadUrl, PDF)).status).toBe(200)
    expect((await put(uploadUrl, PDF.subarray(1))).status).toBe(400)
    expect((await put(uploadUrl, Buffer.concat([PDF, PDF]))).status).toBe(400)
    expect((await put(uploadUrl, PDF, { 'content-type': 'image/png' })).status).toBe(400)
    expect((await put(`${uploadUrl}0`, PDF)).status).toBe(404)
  })

  it('refuses the API key, and counts it against the contract', async () => {
    const { uploadUrl } = await granted()
    const before = sandbox.violations().length
    expect((await put(uploadUrl, PDF, { authorization: `Bearer ${sandboxKeys.agency}` })).status).toBe(400)
    expect(sandbox.violations().slice(before)).toEqual([
      expect.objectContaining({
        method: 'PUT',
        message: expect.stringContaining('must not be sent the API key'),
      }),
    ])
  })

  it('expires after 900 seconds', async () => {
    const { uploadUrl } = await granted()
    now += 899_999
    expect((await put(uploadUrl, PDF)).status).toBe(200)
    now += 1
    expect((await put(uploadUrl, PDF)).status).toBe(403)
  })
})

describe('the token', () => {
  const uploaded = async (bytes = PDF, changes: Body = {}): Promise<string> => {
    const { uploadUrl, uploadToken } = await granted(changes)
    expect(
      (await put(uploadUrl, bytes, changes.contentType && { 'content-type': changes.contentType })).status,
    ).toBe(200)
    return uploadToken
  }
  const refusal = async (answer: ReturnType<typeof attach>): Promise<string> =>
    (await answer).body.error?.message

  it('attaches the file to its record', async () => {
    const { status, body } = await attach(firstAid(await uploaded(), { docType: 'front' }))
    expect(status).toBe(200)
    const [file] = body.data.attachments.at(-1).files
    expect(file).toMatchObject({ fileName: 'aid.pdf', docType: 'front' })
    expect(await (await fetch(file.url)).text()).toBe(PDF.toString())
  })

  it('is valid only for its caller, worker, agency and collection', async () => {
    const token = await uploaded()
    const bound = /uploadToken: is not valid for this caller, worker, agency and collection/
    expect(await refusal(attach(firstAid(token), worker, 'same-agency'))).toMatch(bound)
    expect(await refusal(attach(firstAid(token), await newWorker()))).toMatch(bound)
    expect(await refusal(attach(firstAid('x'.repeat(32))))).toMatch(bound)
    const passport = { files: [{ fileName: 'p.pdf', uploadToken: token }] }
    expect(await refusal(attach({ rightToWork: [document('Passport', passport)] }))).toMatch(bound)
    expect(await refusal(write('POST /workers', person(firstAid(token)), sandboxKeys.agency))).toMatch(bound)
  })

  it('expires', async () => {
    const token = await uploaded()
    now += 900_000
    expect(await refusal(attach(firstAid(token)))).toMatch(/uploadToken: has expired/)
  })

  it('is refused before the upload, and for bytes of another type', async () => {
    const { uploadToken } = await granted()
    expect(await refusal(attach(firstAid(uploadToken)))).toMatch(/uploadToken: nothing was uploaded/)
    const wrong = await uploaded(PNG, { size: PNG.length })
    expect(await refusal(attach(firstAid(wrong)))).toMatch(/does not begin as application\/pdf does/)
  })
})
