/** What each fault does to an answer, and that seeds and streams keep their word. */
import { describe, expect, it } from 'vitest'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { type FaultName, type FaultRates, faultNames } from './faults.ts'

const timesheets = Array.from({ length: 30 }, (_, n) => ({ id: `t${n}`, netHours: n }))

const spoiled = (faults: FaultRates, faultSeed = 1) =>
  openSandbox({ records: { timesheets }, faults, faultSeed, provokesViolations: true })

/** Ends what hangs; a slow body on a busy machine takes a second. */
const longestMs = 2000

async function asked({ url }: { url: string }, path = '/timesheets') {
  const signal = AbortSignal.timeout(longestMs)
  const headers = { authorization: `Bearer ${sandboxKeys.company}` }
  const answer = await fetch(url + path, { headers, signal })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('answers', () => {
  const once = async (name: FaultName, path?: string) => asked(await spoiled({ [name]: 1 }), path)

  it('have an error status and a body outside the contract', async () => {
    expect((await once('error-html')).headers.get('content-type')).toMatch('text/html')
    expect(await once('error-empty')).toMatchObject({ status: 500, text: '' })
    const bare = await once('error-bare')
    expect([bare.status, isJson(bare.text)]).toEqual([500, true])
    expect(JSON.parse(bare.text)?.success).toBeUndefined()
    const cut = await once('error-cut')
    expect([cut.status, isJson(cut.text)]).toEqual([500, false])
  })

  it('come however the address is written', async () => {
    const sandbox = await spoiled({ 'error-empty': 1 })
    const { origin, pathname } = new URL(sandbox.url)
    expect(await asked({ url: `${origin}/%61${pathname.slice(2)}` })).toMatchObject({ status: 500, text: '' })
  })

  it.each(['reset', 'reset-late', 'cut-body', 'hang', 'gzip-garbage'] as const)(
    'do not arrive with %s',
    async name => {
      await expect(once(name)).rejects.toThrow()
    },
  )

  it('arrive in part, slowly, or broken', async () => {
    expect(isJson((await once('short-body')).text)).toBe(false)
    expect(isJson((await once('broken-json')).text)).toBe(false)
    const began = performance.now()
    expect(JSON.parse((await once('slow-body')).text).data).toHaveLength(30)
    expect(performance.now() - began).toBeGreaterThan(70)
  })

  it('have status 200 and wrong content', async () => {
    const total = JSON.parse((await once('wrong-total')).text).meta.total
    expect(total).not.toBe(30)
    const none = JSON.parse((await once('no-rows')).text)
    expect([none.success, none.data, none.meta.total]).toEqual([true, [], 0])
    const { data, meta } = JSON.parse((await once('odd-meta')).text)
    expect([data.length, meta]).not.toEqual([30, { page: 1, limit: 50, total: 30 }])
    expect(JSON.parse((await once('not-success')).text).success).toBe(false)
    const typed = await once('wrong-type')
    expect(typed.headers.get('content-type')).toMatch('text/html')
    expect(isJson(typed.text)).toBe(true)
    expect((await once('html-page')).text).toMatch(/^<!doctype html>/)
  })

  it('without meta are not spoiled by faults in meta', async () => {
    expect(isJson((await once('wrong-total', '/me')).text)).toBe(true)
  })

  it.each(['limit-storm', 'silent-storm'] as const)('are runs of 429 under %s', async name => {
    const sandbox = await spoiled({ [name]: 0.2 }, 3)
    const statuses: number[] = []
    for (let count = 0; count < 60; count += 1) {
      const { status, headers } = await asked(sandbox)
      statuses.push(status)
      expect(headers.has('retry-after')).toBe(status === 429 && name === 'limit-storm')
    }
    const text = statuses.map(status => (status === 429 ? 'x' : '.')).join('')
    expect(text).toMatch(/xx/)
    expect(text).toMatch(/\.\./)
  })
})

describe('seeds', () => {
  const struck = async (faults: FaultRates, seed = 1) => {
    const sandbox = await spoiled(faults, seed)
    for (let count = 0; count < 40; count += 1) await asked(sandbox)
    return sandbox.requests.map(({ fault }) => fault ?? '')
  }

  it('decide which answers are spoiled', async () => {
    const first = await struck({ 'error-html': 0.2 })
    expect(first.filter(Boolean).length).toBeGreaterThan(2)
    expect(await struck({ 'error-html': 0.2 })).toEqual(first)
    expect(await struck({ 'error-html': 0.2 }, 2)).not.toEqual(first)
  })

  it('leave a fault where it was when another is added', async () => {
    const alone = await struck({ 'html-page': 0.2 })
    const both = await struck({ 'html-page': 0.2, 'error-empty': 0.2 })
    const kept = both.map((name, index) => (name === 'error-empty' ? alone[index] : name))
    expect(kept).toEqual(alone)
    expect(both).toContain('error-empty')
  })
})

it('are counted, logged by name, leave refusals alone, and stop when told', async () => {
  const sandbox = await spoiled({ 'error-empty': 1 })
  await asked(sandbox)
  expect((await asked(sandbox, '/timesheets?page=0')).status).toBe(400)
  sandbox.faults.stop()
  const { text } = await asked(sandbox, '/me')
  expect(JSON.parse(text).data.usage.requestsToday).toBe(3)
  expect(sandbox.requests.map(({ fault }) => fault)).toEqual(['error-empty', undefined, undefined])
  expect(faultNames).toHaveLength(20)
})
