/** The limits of section 8, each just within and just beyond. */
import { expect } from 'vitest'
import { largestBody, largestFile } from '../../src/lib/file-kind.ts'
import type { Body } from '../sandbox/open-sandbox.ts'
import { dataUrl, document, PDF, PNG, person } from '../sandbox/writes/worker-inputs.ts'
import { expectRefusal, type Row } from './row.ts'
import type { KeyName, Stand } from './stand.ts'
import { declaration, workerOf } from './targets.ts'

const JPEG = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0])
const declare = (stand: Stand, changes: Body) =>
  stand.send('POST /files/uploads', { key: 'agency', body: declaration(workerOf(stand), changes) })
const create = (stand: Stand, file: Body) => {
  const attachments = [document('Site first aid', { files: [file] })]
  return stand.send('POST /workers', { key: 'agency', body: person({ attachments }) })
}
const metaOf = async (stand: Stand, query: string) => (await stand.get(`/timesheets${query}`)).body?.meta

/** Counted at the start of a minute and of a day of UTC, wherever the clock stands. */
async function spend(stand: Stand, key: KeyName, periodMs: number): Promise<void> {
  for (const _ of [1, 2]) {
    for (let sent = 0; sent < 10; sent += 1) expect((await stand.get('/me', key)).status).toBe(200)
    expectRefusal(await stand.get('/me', key), 429)
    stand.wait(periodMs)
  }
}

async function expires(stand: Stand): Promise<void> {
  const { uploadUrl, headers, uploadToken, expiresIn } = (await declare(stand, { size: PDF.length })).body
    .data
  expect(expiresIn).toBe(900)
  const put = async () => (await fetch(uploadUrl, { method: 'PUT', body: PDF, headers })).status
  const files = [{ fileName: 'aid.pdf', uploadToken }]
  const attach = () =>
    stand.send(`PATCH /workers/${workerOf(stand)}`, {
      key: 'agency',
      body: { attachments: [document('Site first aid', { files })] },
    })
  stand.wait(899_999)
  expect([await put(), (await attach()).status]).toEqual([200, 200])
  stand.wait(1)
  expect([await put(), (await attach()).status]).toEqual([403, 400])
}

const HOUR = 3_600_000

const checks: Readonly<Record<string, Row['show']>> = {
  'page 1 by default': async stand => expect((await metaOf(stand, '')).page).toBe(1),
  'limit 50 by default, 200 at most': async stand => {
    expect((await metaOf(stand, '')).limit).toBe(50)
    expect((await metaOf(stand, '?limit=200')).limit).toBe(200)
    expectRefusal(await stand.get('/timesheets?limit=201'), 400)
  },
  'worker body of 50 MB': async stand => {
    for (const target of ['POST /workers', `PATCH /workers/${workerOf(stand)}`]) {
      const body = Buffer.alloc(largestBody + 1, ' ')
      expectRefusal(await stand.send(target, { key: 'agency', body }), 413)
      expectRefusal(await stand.send(target, { key: 'agency', body: body.subarray(1) }), 400)
    }
  },
  'file of 20 MB in a document': async stand => {
    const sized = (bytes: number) => dataUrl(Buffer.concat([PDF, Buffer.alloc(bytes - PDF.length)]))
    expect((await create(stand, { fileName: 'a.pdf', content: sized(largestFile) })).status).toBe(200)
    expectRefusal(await create(stand, { fileName: 'a.pdf', content: sized(largestFile + 1) }), 400, '20 MB')
  },
  'declared size of 1 to 20971520 bytes': async stand => {
    for (const size of [1, 20_971_520]) expect((await declare(stand, { size })).status).toBe(200)
    for (const size of [0, 20_971_521]) expectRefusal(await declare(stand, { size }), 400, 'size')
  },
  'upload fileName of 1 to 255 characters': async stand => {
    const named = (length: number) => ({ fileName: `${'x'.repeat(length - 4)}.pdf` })
    expect((await declare(stand, named(255))).status).toBe(200)
    for (const wrong of [named(256), { fileName: '' }])
      expectRefusal(await declare(stand, wrong), 400, 'fileName')
  },
  'file types PDF, JPEG and PNG': async stand => {
    const types = { 'application/pdf': PDF, 'image/jpeg': JPEG, 'image/png': PNG }
    for (const [type, bytes] of Object.entries(types)) {
      expect((await declare(stand, { contentType: type })).status).toBe(200)
      expect((await create(stand, { fileName: 'a.pdf', content: dataUrl(bytes, type) })).status).toBe(200)
    }
    expectRefusal(await declare(stand, { contentType: 'image/gif' }), 400, 'contentType')
    expectRefusal(
      await create(stand, { fileName: 'a.gif', content: dataUrl(PDF, 'image/gif') }),
      400,
      'content',
    )
  },
  'upload token and link for 900 seconds': expires,
  'hoursThreshold 48 by default': async stand => {
    const path = '/requisitions/recruitment-metrics?metric=workersOverHours'
    const [row] = (await stand.get(path)).body.data
    expect(row).toEqual((await stand.get(`${path}&hoursThreshold=48`)).body.data[0])
    expect(row.values.thresholdHours).toBe(48)
  },
  rateLimitPerMinute: stand => spend(stand, 'ten a minute', 60_000),
  'rateLimitPerDay, until midnight UTC': stand => spend(stand, 'ten a day', 24 * HOUR),
  'usage in /me': async stand => {
    stand.wait(24 * HOUR)
    for (const requestsToday of [1, 2]) {
      const { rateLimitPerDay, usage } = (await stand.get('/me', 'ten a day')).body.data
      expect([rateLimitPerDay, usage]).toEqual([
        10,
        {
          requestsToday,
          remainingToday: 10 - requestsToday,
          resetsAt: expect.stringMatching(/T00:00:00\.000Z$/),
        },
      ])
    }
  },
}

export const limitRows: readonly Row[] = Object.entries(checks).map(([what, show]) => ({
  kind: 'limit',
  what,
  where: '8',
  show,
}))
