/** Writes: against the sandbox for what they do, against a bare server for what happens when answers fail. */
import { afterAll, describe, expect, it } from 'vitest'
import { type Client, createClient } from '../../src/api/client/client.ts'
import { createUpload, uploadFile } from '../../src/api/uploads.ts'
import { createWorker, newWorker, updateWorker } from '../../src/api/workers.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { largestBody } from '../../src/lib/file-kind.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { document, PDF, person } from '../sandbox/writes/worker-inputs.ts'
import { bare, everyWord, failure, json, startService, withClient } from '../support/http-service.ts'
import { virtualClock } from '../support/virtual-clock.ts'

const sandbox = await openSandbox({ scale: 0.02, provokesByMuster: ['bad-request', 'scope'] })
const clients: Client[] = []
afterAll(() => Promise.all(clients.map(client => client.close())))
const clientOf = (apiKey: string): Client => {
  const client = createClient({ baseUrl: sandbox.url, apiKey, clock: systemClock, rng: () => 0 })
  clients.push(client)
  return client
}
const agency = clientOf(sandboxKeys.agency)
const surroundings = { clock: systemClock, rng: () => 0 }

describe('a worker', () => {
  it('is created, updated, and given a file that was uploaded before', async () => {
    const worker = await createWorker(agency, newWorker.parse(person()))
    expect(worker).toMatchObject({
      reference: expect.stringMatching(/^WRK-/),
      attachments: [],
      at: expect.any(String),
    })
    const declaration = { resource: 'worker', recordId: worker.id, purpose: 'attachments' } as const
    const upload = await createUpload(agency, {
      ...declaration,
      fileName: 'aid.pdf',
      contentType: 'application/pdf',
      size: PDF.length,
    })
    await uploadFile(upload, PDF, { ...surroundings, source: { baseUrl: sandbox.url } })
    const files = [{ fileName: 'aid.pdf', uploadToken: upload.uploadToken }]
    const changes = { lastName: 'Other', attachments: [document('Site first aid', { files })] }
    const updated = await updateWorker(agency, { id: worker.id, changes })
    expect(updated.attachments).toEqual([expect.objectContaining({ documentType: 'Site first aid' })])
    expect(sandbox.violations()).toEqual([])
  })

  it('that exists goes to review', async () => {
    const known = person()
    await createWorker(agency, known)
    const error = await failure(createWorker(agency, { ...known, email: 'else@mail.example.com' }))
    expect([error.name, error.code, error.needsReview]).toEqual([
      'Conflict',
      'WORKER_MATCH_REQUIRES_REVIEW',
      true,
    ])
    expect(error.message).toMatch(/^a matching worker exists \(POST \/workers: 409 .*\): review the match/)
  })

  it('is refused without any of its details in the error', async () => {
    const secret = person({ firstName: 'Xavierus', email: 'xavierus@secret.example.com', phone: 'x12y' })
    const error = await failure(createWorker(agency, secret))
    expect(error.name).toBe('BadRequest')
    expect(error.message).toMatch(/phone: is not a telephone number.*correct what the service names/)
    await expect(createWorker(clientOf(sandboxKeys.company), secret)).rejects.toThrow(
      /the key may not write this/,
    )
    expect(everyWord(error)).not.toMatch(/xavierus|x12y/i)
  })

  it('is not sent when its body is over 50 MB', async () => {
    const before = sandbox.requests.length
    const error = await failure(createWorker(agency, person({ lastName: 'x'.repeat(largestBody) })))
    expect(error.message).toMatch(/^the body has \d+ bytes, more than 50 MB \(POST \/workers\)/)
    expect(sandbox.requests.length).toBe(before)
  })
})

describe('an answer that fails', () => {
  const quick = () => ({ clock: virtualClock() })
  const post = (client: Client) =>
    client.write({
      method: 'POST',
      path: '/workers',
      body: { lastName: 'Roe-Planted' },
      hide: ['Roe-Planted'],
    })

  it.each([500, 502, 503, 408])('%i after a creation leaves it open, and nothing is sent again', status =>
    withClient(
      (_asked, response) => json(response, status, { error: { code: 'X', message: 'no Roe-Planted here' } }),
      async (client, service) => {
        const error = await failure(post(client))
        expect([error.name, error.exitCode, service.asked.length]).toEqual(['WriteUnsettled', 1, 1])
        expect(error.message).toMatch(/^it is unknown whether this was done: .*"no \[value\] here".*look for/)
        expect(everyWord(error)).not.toContain('Roe-Planted')
      },
      quick(),
    ),
  )

  it.each([
    ['breaks off', 'reset'],
    ['is not JSON', '<html>'],
    ['says no success', '{"success":false}'],
  ])('that %s leaves it open too', (_, body) =>
    withClient(
      (_asked, response) => (body === 'reset' ? response.destroy() : json(response, 200, body)),
      async (client, service) => {
        expect((await failure(post(client))).name).toBe('WriteUnsettled')
        expect(service.asked).toHaveLength(1)
      },
      quick(),
    ),
  )

  it('to what is no path is not sent, and says that it was a write', () =>
    withClient(
      () => {},
      async (client, service) => {
        const error = await failure(client.write({ method: 'PATCH', path: '/workers/../me', body: {} }))
        expect([error.name, error.message]).toEqual([
          'BadRequest',
          expect.stringMatching(
            /^"\/workers\/\.\.\/me" is not a path \(PATCH\): correct .*nothing was changed$/,
          ),
        ])
        expect(service.asked).toHaveLength(0)
      },
      quick(),
    ))

  it('is sent again after 429, when nothing was written', () =>
    withClient(
      (asked, response) =>
        asked.nth === 1
          ? bare(response, 429, { 'retry-after': '1' })
          : json(response, 200, { success: true, data: { id: 'w' } }),
      async (client, service) => {
        expect((await post(client)).record).toEqual({ id: 'w' })
        expect(service.asked).toHaveLength(2)
      },
      quick(),
    ))

  it('is sent again as long as no connection stands', async () => {
    const service = await startService(() => {})
    const client = createClient({
      baseUrl: service.baseUrl,
      apiKey: 'k',
      rng: () => 0,
      clock: virtualClock(),
    })
    await client.getMe()
    await service.close()
    const attempts: number[] = []
    const error = await failure(
      createClient({
        baseUrl: service.baseUrl,
        apiKey: 'k',
        rng: () => 0,
        clock: virtualClock(),
        onRequest: ({ attempt }) => attempts.push(attempt),
      }).write({ method: 'POST', path: '/workers', body: {} }),
    )
    // Half a second apart for five seconds.
    expect([error.name, attempts.length]).toEqual(['RetriableError', 11])
    expect((await failure(post(client))).name).toBe('RetriableError')
    await client.close()
  })

  it('is sent again when repeating does no harm', () =>
    withClient(
      (asked, response) => json(response, asked.nth === 1 ? 500 : 200, { success: true, data: {} }),
      async (client, service) => {
        const error = await failure(
          createUpload(client, {
            resource: 'worker',
            recordId: 'w',
            purpose: 'attachments',
            fileName: 'a.pdf',
            contentType: 'application/pdf',
            size: 1,
          }),
        )
        expect(error.message).toMatch(/^bad answer: uploadUrl of the upload is missing or wrong/)
        expect(service.asked).toHaveLength(2)
      },
      quick(),
    ))
})

describe('an upload', () => {
  const to = (uploadUrl: string) => ({
    uploadUrl,
    uploadToken: 'token-planted',
    method: 'PUT' as const,
    headers: { 'Content-Type': 'application/pdf', Authorization: 'Bearer stolen' },
    expiresIn: 900,
  })

  const here = { baseUrl: 'http://127.0.0.1:1/api/open/v1' }

  it('carries its type and length and no key, and is repeated while the storage fails', async () => {
    const service = await startService((asked, response) => bare(response, asked.nth < 3 ? 503 : 200, {}))
    await uploadFile(to(`http://127.0.0.1:${service.port}/put?sig=planted`), PDF, {
      clock: virtualClock(),
      rng: () => 0,
      source: here,
    })
    expect(service.asked).toHaveLength(3)
    const [{ headers }] = service.asked as [(typeof service.asked)[number]]
    expect(headers).toMatchObject({ 'content-type': 'application/pdf', 'content-length': String(PDF.length) })
    expect(headers.authorization).toBeUndefined()
    await service.close()
  })

  it.each([
    [403, 'the link may have expired'],
    [302, 'run it again'],
    [503, 'run it again'],
  ])('that is answered %i fails in one line without its address', async (status, next) => {
    const other = await startService(() => {})
    const service = await startService((_asked, response) =>
      bare(response, status, { location: `http://127.0.0.1:${other.port}/` }),
    )
    const url = `http://127.0.0.1:${service.port}/put/planted?sig=planted`
    const error = await failure(
      uploadFile(to(url), PDF, { clock: virtualClock(), rng: () => 0, source: here }),
    )
    expect(error.message).toContain(`(PUT to 127.0.0.1:${service.port}: ${status})`)
    expect(error.message).toContain(next)
    expect(everyWord(error)).not.toContain('planted')
    expect(other.asked).toEqual([])
    await Promise.all([other.close(), service.close()])
  })

  it.each(['http://storage.example.com/x', 'ftp://127.0.0.1/x', 'file:///etc/passwd', 'nothing'])(
    'goes to no address like %s',
    async url => {
      const error = await failure(uploadFile(to(url), PDF, { ...surroundings, source: here }))
      expect(error.message).toMatch(/^the service names an upload address that is (not https|not an address)/)
    },
  )

  it('ends when it takes too long', async () => {
    const service = await startService(() => {})
    const limits = { clock: virtualClock(), rng: () => 0, totalTimeout: 50, source: here }
    const error = await failure(uploadFile(to(`http://127.0.0.1:${service.port}/put`), PDF, limits))
    expect(error.message).toContain('no answer')
    await service.close()
  })
})
