/** `muster sandbox`: options from the command line, and what it says of requests that broke the contract. */
import { expect, test } from 'vitest'
import { contractOptions } from '../../src/sandbox/options.ts'
import { captured, muster } from '../support/captured-world.ts'

async function started(line: string) {
  const stop = new AbortController()
  const { world, out, err } = captured({ signal: stop.signal })
  const ended = muster(`sandbox --scale 0.01 --json ${line}`, world)
  await expect.poll(out, { timeout: 20_000 }).toContain('}\n')
  const { url, keys } = JSON.parse(out())
  return {
    ask: (path: string) => fetch(url + path, { headers: { authorization: `Bearer ${keys.company}` } }),
    end: async () => {
      stop.abort()
      return { code: (await ended).code, err: err() }
    },
  }
}

test('says what broke the contract', async () => {
  const { ask, end } = await started('')
  await ask('/timesheets?limit=500')
  await ask('/timesheets?limit=500')
  await ask('/nothing')
  expect(await end()).toEqual({
    code: 0,
    err: [
      '3 requests broke the contract:',
      '  limit: 2',
      '    GET /timesheets: limit: Too big: expected number to be <=200',
      '    GET /timesheets: limit: Too big: expected number to be <=200',
      '  unknown-path: 1',
      '    GET /nothing: no such route',
      '',
    ].join('\n'),
  })
})

test('takes options, and says nothing when nothing broke the contract', async () => {
  const { ask, end } = await started('--option extra=1 --option extra-in=envelope')
  expect(Object.keys((await (await ask('/timesheets')).json()) as object)).toHaveLength(4)
  expect(await end()).toEqual({ code: 0, err: '' })
})

test.each([
  ['', '2025-11-20', '2026-01-01'],
  ['--today 2028-02-29', '2028-01-20', '2028-02-29'],
])('ends its data yesterday, by the clock or by an option (%s)', async (line, from, to) => {
  const { ask, end } = await started(`--scale 0.1 ${line}`)
  const newest = await (await ask('/timesheets?sortBy=createdAt&sortOrder=desc&limit=1')).json()
  const [{ createdAt }] = (newest as { data: [{ createdAt: string }] }).data
  expect([createdAt > from, createdAt < to], createdAt).toEqual([true, true])
  expect((await end()).code).toBe(0)
})

test.each([
  ['--option tos=exclusive', 'muster: there is no option tos: did you mean to?\n'],
  [
    '--option to=sometimes',
    'muster: option to does not take "sometimes": give inclusive, midnight, exclusive\n',
  ],
])('refuses %s', async (line, message) => {
  expect(await muster(`sandbox ${line}`)).toMatchObject({ code: 2, err: message })
})

test('--help lists every option', async () => {
  const { out } = await muster('sandbox --help')
  for (const name of Object.keys(contractOptions)) expect(out).toMatch(new RegExp(`^  ${name} +\\S`, 'm'))
})
