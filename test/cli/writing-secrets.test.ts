/** Planted secrets: nothing that a writing command puts on stderr or into a file holds the key, a token or a person. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { defaultKeys, sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import type { ApiKey } from '../../src/sandbox/keys/keys.ts'
import { type Body, openSandbox } from '../sandbox/open-sandbox.ts'
import { document, PDF, person } from '../sandbox/writes/worker-inputs.ts'
import { json, startService } from '../support/http-service.ts'
import { writingWorld } from './written-files.ts'

const KEY = 'planted-key-5c1d'
const agencyKey = defaultKeys.find(({ key }) => key === sandboxKeys.agency) as ApiKey
const sandbox = await openSandbox({ scale: 0.01, keys: [{ ...agencyKey, key: KEY }] })

const plantedPerson = (n: number): Body => ({
  firstName: `Plantedfirst${n}`,
  lastName: `Plantedlast${n}`,
  email: `planted${n}@mail.example.com`,
  address: { lineOne: `${n} Planted Wharf`, city: 'Plantedtown', code: 'CA1 1RY' },
})

/** Everything in the folder but the inputs. */
function written(cwd: string, inputs: readonly string[]): string {
  const files = readdirSync(cwd, { recursive: true, encoding: 'utf8' }).filter(name => !inputs.includes(name))
  return files.map(name => `${name}\n${readFileSync(join(cwd, name), 'utf8')}`).join('\n')
}

const planted = /planted/i

describe('--verbose', () => {
  test('shows no key, name or document of workers that are written', async () => {
    const { run, file, cwd } = writingWorld(sandbox.url, KEY)
    const known = person({ ...plantedPerson(1), nationalIns: 'PK123456C' })
    const locked = [document('CSCS Labourer card', { documentNumber: '12340000' })]
    file('w.json', [
      known,
      person({ ...plantedPerson(2), nationalIns: 'PK123456C' }),
      person({ ...plantedPerson(3), attachments: locked }),
    ])
    const shown = await run('workers create w.json --verbose --json')
    expect(JSON.parse(shown.out).counts).toMatchObject({ created: expect.any(Number), review: 1 })
    expect(shown.err + written(cwd, ['w.json']) + shown.out).not.toMatch(planted)
    file('bad.json', [person({ ...plantedPerson(4), email: 'planted' })])
    const bad = await run('workers create bad.json --verbose')
    expect(bad.err + bad.out).not.toMatch(planted)
  })

  test('shows the token of an upload on stdout alone', async () => {
    const { run, file, cwd } = writingWorld(sandbox.url, KEY)
    file('w.json', [person(plantedPerson(5))])
    const [{ id }] = JSON.parse((await run('workers create w.json --json')).out).results
    file('planted.pdf', PDF)
    const upload = await run(
      `files upload planted.pdf --resource worker --record ${id} --purpose attachments --verbose`,
    )
    const token = upload.out.trim()
    expect([upload.code, token]).toEqual([0, expect.stringMatching(/^[\w-]{32}$/)])
    expect(upload.err).toBe(
      `uploaded, not attached yet: pass the token to the update of the record within 15 minutes\n`,
    )
    file('u.json', [
      {
        id,
        attachments: [document('Site first aid', { files: [{ fileName: 'a.pdf', uploadToken: token }] })],
      },
    ])
    const update = await run('workers update u.json --verbose')
    expect([update.code, update.out]).toEqual([0, expect.stringContaining('1 updated')])
    const rest = written(cwd, ['w.json', 'u.json', 'planted.pdf'])
    for (const text of [upload.err, update.err, update.out, rest]) {
      expect(text).not.toContain(token)
      expect(text).not.toMatch(planted)
    }
    expect(sandbox.violations()).toEqual([])
    expect(sandbox.requests.filter(({ method }) => method === 'PUT').map(({ key }) => key)).toEqual([
      undefined,
    ])
  })

  test('shows nothing that the service or the storage repeats', async () => {
    const upload = { uploadToken: 'planted-token-9', method: 'PUT', headers: {}, expiresIn: 900 }
    const service = await startService(
      ({ path }, response, request) => {
        const uploadUrl = `http://127.0.0.1:${service.port}/storage/planted-url?sig=planted`
        if (path === '/files/uploads')
          return json(response, 200, { success: true, data: { ...upload, uploadUrl } })
        if (path.startsWith('/storage')) return json(response, 403, { error: { message: 'planted-url' } })
        let body = ''
        request.on('data', piece => {
          body += piece
        })
        request.on('end', () => {
          const { lastName, email, address } = JSON.parse(body)
          const message = `${lastName} <${email}>, ${address.lineOne}: refused for ${KEY}`
          json(response, 400, { error: { code: 'X', message } })
        })
      },
      (_asked, response) =>
        json(response, 200, { success: true, data: { agencies: [{ id: 'a', name: 'A' }], scopes: [] } }),
    )
    const { run, file, cwd } = writingWorld(service.baseUrl, KEY)
    file('w.json', [person(plantedPerson(6))])
    const create = await run('workers create w.json --verbose')
    expect(create.out).toContain('[value] <[value]>, [value]: refused for [key]')
    file('planted.pdf', PDF)
    const failed = await run(
      'files upload planted.pdf --resource worker --record w --purpose attachments --verbose',
    )
    expect([failed.code, failed.out]).toEqual([1, ''])
    expect(failed.err).toMatch(/^muster: the file was not uploaded \(PUT to 127\.0\.0\.1:\d+: 403\)/)
    for (const text of [create.err, create.out, failed.err, written(cwd, ['w.json', 'planted.pdf'])]) {
      expect(text).not.toMatch(planted)
    }
    await service.close()
  })
})
