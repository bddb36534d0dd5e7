/** `workers create` and `workers update` against a sandbox: what is sent, what is kept, what a second run does. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { seedOf } from '../../src/sandbox/data/draw.ts'
import { makeAgencies } from '../../src/sandbox/data/master/companies.ts'
import { defaultKeys, sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import type { ApiKey } from '../../src/sandbox/keys/keys.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { document, PDF, pdf, person } from '../sandbox/writes/worker-inputs.ts'
import { bare, json, startService } from '../support/http-service.ts'
import { csvOf, writingWorld } from './written-files.ts'

const size = { seed: 1, scale: 0.02, today: '2026-11-02' }
const [first, second] = makeAgencies(seedOf(size)).map(({ id }) => id) as [string, string]
const [companyKey, agencyKey] = defaultKeys as readonly [ApiKey, ApiKey]
const sandbox = await openSandbox({
  ...size,
  keys: [
    companyKey,
    agencyKey,
    { ...agencyKey, key: 'two-agencies', agencies: [first, second] },
    { ...agencyKey, key: 'reading-agency', scopes: ['read:workers'] },
  ],
})
const writes = () => sandbox.requests.filter(({ method }) => method !== 'GET').length
const opened = (key = sandboxKeys.agency) => writingWorld(sandbox.url, key)

describe('a file of workers', () => {
  test('in CSV is created, and a second run sends only what is not done', async () => {
    const { run, file, cwd } = opened()
    const [ann, bob] = [person(), person()]
    const double = person({ nationalIns: ann.nationalIns })
    file('w.csv', `\ufeff${csvOf([ann, bob, double])}\n\n`)
    const once = await run('workers create w.csv --json')
    expect([once.code, once.err]).toEqual([1, ''])
    const { counts, results, review } = JSON.parse(once.out)
    expect(counts).toMatchObject({ created: 2, review: 1 })
    expect(results[1]).toEqual({
      row: 3,
      worker: bob.agencyId,
      outcome: 'created',
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      reference: expect.stringMatching(/^WRK-/),
    })
    expect(review).toEqual([{ row: 4, worker: double.agencyId, outcome: 'review', note: '' }])
    const kept = sandbox.workers.find(results[1].id, first)
    expect(kept?.person).toMatchObject({ address: bob.address, trades: bob.trades })
    const before = writes()
    const again = await run('workers create w.csv')
    expect([again.code, writes() - before]).toEqual([1, 1])
    expect(again.out).toContain('For review, because a matching worker exists (nothing was created):')
    expect(again.out).toContain('2 done before, 1 review')
    expect(readFileSync(join(cwd, 'w.csv.outcome.ndjson'), 'utf8')).not.toContain(bob.lastName)
  })

  test('is written by one run at a time, and a killed run delays no other', async () => {
    const { run, file, cwd } = opened()
    file('w.json', JSON.stringify([person(), person(), person()]))
    const lock = join(cwd, 'w.json.lock')
    const before = writes()
    const both = await Promise.all([run('workers create w.json'), run('workers create w.json')])
    expect(both.map(({ code }) => code).sort()).toEqual([0, 1])
    expect(both.map(({ err }) => err).join('')).toMatch(/another run is writing w\.json: wait until it ends/)
    expect([writes() - before, existsSync(lock)]).toEqual([3, false])
    writeFileSync(lock, `${hostname()} 999999999\n`)
    expect((await run('workers create w.json')).out).toContain('3 done before')
    writeFileSync(lock, 'elsewhere 1\n')
    expect((await run('workers create w.json')).code).toBe(1)
  })

  test.each([
    ['json', (rows: object[]) => JSON.stringify(rows)],
    ['ndjson', (rows: object[]) => rows.map(row => `${JSON.stringify(row)}\n`).join('\n')],
    ['jsonl', (rows: object[]) => rows.map(row => JSON.stringify(row)).join('\n')],
  ])('may be %s', async (ending, write) => {
    const { run, file } = opened()
    file(`w.${ending}`, write([person(), person()]))
    const { code, out } = await run(`workers create w.${ending}`)
    expect([code, out]).toEqual([0, expect.stringContaining('2 created\n')])
  })

  test('may be one object', async () => {
    const { run, file } = opened()
    file('w.json', person({ attachments: [document('CV', { files: [pdf] })] }))
    expect((await run('workers create w.json')).code).toBe(0)
  })

  test('is sent in another wish when a row changes', async () => {
    const { run, file } = opened()
    const worker = person()
    file('w.json', [worker])
    await run('workers create w.json')
    file('w.json', [{ ...worker, phone: '7700900000' }])
    expect((await run('workers create w.json --json')).out).toContain('"review": 1')
  })

  test('is only checked by --dry-run', async () => {
    const { run, file, cwd } = opened()
    file('w.json', [person(), person()])
    const before = sandbox.requests.length
    const { code, out } = await run('workers create w.json --dry-run')
    expect([code, out, sandbox.requests.length]).toEqual([0, '2 not sent\n', before])
    expect(existsSync(join(cwd, 'w.json.outcome.ndjson'))).toBe(false)
  })

  test('is sent without its invalid rows by --skip-invalid', async () => {
    const { run, file } = opened()
    file('w.json', [person({ email: 'x' }), person(), person({ consent: false })])
    const { code, out, err } = await run('workers create w.json --skip-invalid')
    expect([code, out]).toEqual([1, expect.stringContaining('1 created, 2 invalid rows')])
    expect(err).toBe(
      'w.json, row 1, email is not an e-mail address\nw.json, row 3, consent is not true: written consent is required\n',
    )
  })
})

describe('an update', () => {
  test('changes workers by id, with files that lie beside the input', async () => {
    const { run, file } = opened()
    file('w.json', [person()])
    const [{ id }] = JSON.parse((await run('workers create w.json --json')).out).results
    file('aid.pdf', PDF)
    file('u.json', [
      { id, lastName: 'Other', attachments: [document('Site first aid', { files: [{ path: 'aid.pdf' }] })] },
    ])
    const { code, out } = await run('workers update u.json')
    expect([code, out]).toEqual([0, expect.stringContaining('1 updated')])
    const [kept] = sandbox.workers.find(id, first)?.documents ?? []
    expect(kept?.files).toEqual([expect.objectContaining({ fileName: 'aid.pdf' })])
    file('u.csv', `id,active,address.city\n${id},no,York\n`)
    expect((await run('workers update u.csv')).code).toBe(0)
    expect(sandbox.workers.find(id, first)?.agencies.get(first)?.active).toBe(false)
  })

  test('that conflicts with another worker is reported by its row', async () => {
    const { run, file } = opened()
    const known = person()
    file('w.json', [known, person()])
    const [, { id }] = JSON.parse((await run('workers create w.json --json')).out).results
    file('u.json', [
      { id, email: known.email },
      { id: 'ffffffffffffffffffffffff', active: true },
    ])
    const { code, out } = await run('workers update u.json --json')
    expect(code).toBe(1)
    expect(JSON.parse(out).results).toMatchObject([
      { row: 1, outcome: 'conflict', note: 'email: belongs to another worker' },
      { row: 2, outcome: 'refused' },
    ])
  })
})

describe('the key', () => {
  test.each([
    [sandboxKeys.company, '', 78, 'workers are written with an agency-scoped key'],
    ['reading-agency', '', 78, 'the key has no scope write:workers'],
    ['two-agencies', '', 2, `the key spans 2 agencies: name one: --agency ${first} (`],
    ['two-agencies', ' --agency x', 2, `x is not an agency of this key: its agencies are ${first} (`],
  ])('%s%s writes nothing', async (...[key, option, exit, message]) => {
    const { run, file } = opened(key)
    file('w.json', [person()])
    const before = writes()
    const { code, err } = await run(`workers create w.json${option}`)
    expect([code, err, writes()]).toEqual([exit, expect.stringContaining(message), before])
  })

  test('of two agencies names one', async () => {
    const { run, file } = opened('two-agencies')
    file('w.json', [person()])
    const { code, out } = await run(`workers create w.json --agency ${second} --json`)
    expect(code).toBe(0)
    expect(sandbox.workers.find(JSON.parse(out).results[0].id, second)).toBeDefined()
  })
})

describe('when answers fail', () => {
  const agencyMe = (_asked: unknown, response: Parameters<typeof json>[0]) =>
    json(response, 200, {
      success: true,
      data: { agencies: [{ id: 'a', name: 'A' }], scopes: ['write:workers'] },
    })

  test('three in a row stop the run, and the next run asks again', async () => {
    const service = await startService((_asked, response) => json(response, 500, {}), agencyMe)
    const { run, file, cwd } = writingWorld(service.baseUrl)
    file('w.json', [person(), person(), person(), person()])
    const { code, out, err } = await run('workers create w.json --json')
    expect([code, service.asked.length]).toEqual([1, 3])
    expect(JSON.parse(out).counts).toMatchObject({ unsettled: 3, 'not sent': 1 })
    expect(err).toMatch(/^muster: 3 rows in a row got no usable answer/)
    await service.close()
    const other = await startService(
      (_asked, response) =>
        json(response, 409, {
          success: false,
          error: { code: 'WORKER_MATCH_REQUIRES_REVIEW', message: 'm' },
        }),
      agencyMe,
    )
    const log = join(cwd, 'w.json.outcome.ndjson')
    appendFileSync(log, '{"half a li')
    const second = await run('workers create w.json --json', {
      env: {
        MUSTER_BASE_URL: other.baseUrl,
        MUSTER_API_KEY: 'another-key',
        MUSTER_WAREHOUSE: 'duckdb:x.duckdb',
      },
    })
    // Another service: another wish, so nothing is known of it.
    expect(JSON.parse(second.out).review.map(({ note }: { note: string }) => note)).toEqual(['', '', '', ''])
    await other.close()
  })

  test('an unconfirmed row is sent again and reported; an update that adds documents is not', async () => {
    let status = 500
    const service = await startService(
      (_asked, response) =>
        json(response, status, {
          success: false,
          error: { code: 'WORKER_MATCH_REQUIRES_REVIEW', message: 'm' },
        }),
      agencyMe,
    )
    const { run, file } = writingWorld(service.baseUrl)
    file('w.json', [person()])
    file('u.json', [
      { id: 'w1', attachments: [document('CV')] },
      { id: 'w2', attachments: [{ id: 'd1', documentNumber: '1' }] },
    ])
    await run('workers create w.json')
    expect(JSON.parse((await run('workers update u.json --json')).out).counts).toMatchObject({ unsettled: 2 })
    status = 409
    const again = JSON.parse((await run('workers create w.json --json')).out)
    expect(again.review).toMatchObject([{ note: 'an earlier run may have created it' }])
    const before = service.asked.length
    const updates = JSON.parse((await run('workers update u.json --json')).out)
    expect(updates.results[0]).toMatchObject({
      outcome: 'unsettled',
      note: expect.stringContaining('outcome file'),
    })
    expect(service.asked.slice(before).map(({ path }) => path)).toEqual(['/workers/w2'])
    await service.close()
  })

  test.each([
    [401, 1, 'unsent', 2],
    [403, 1, 'refused', 1],
    [429, 75, 'unsent', 6],
  ])('%i ends the run', async (...[status, exit, outcome, times]) => {
    const service = await startService((_asked, response) => bare(response, status, {}), agencyMe)
    const { run, file } = writingWorld(service.baseUrl)
    file('w.json', [person(), person()])
    const { code, out } = await run('workers create w.json --json')
    expect([code, service.asked.length]).toEqual([exit, times])
    expect(JSON.parse(out).results).toMatchObject([{ row: 1, outcome }])
    await service.close()
  })

  test('a wish to stop leaves the row open', async () => {
    const stop = new AbortController()
    const service = await startService(() => stop.abort(new Error('stop')), agencyMe)
    const { run, file, cwd } = writingWorld(service.baseUrl)
    file('w.json', [person(), person()])
    const { out } = await run('workers create w.json --json', { signal: stop.signal })
    expect(JSON.parse(out).results).toMatchObject([{ row: 1, outcome: 'unsettled' }])
    expect(readFileSync(join(cwd, 'w.json.outcome.ndjson'), 'utf8').trim()).toMatch(
      /^\{.*"outcome":"sending".*\}$/,
    )
    await service.close()
  })
})
