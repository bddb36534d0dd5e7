/** `muster sandbox`: options and faults from the command line, and what it says of requests that broke the contract. */
import { expect, test } from 'vitest'
import { faultTable } from '../../src/sandbox/faults/faults.ts'
import { contractOptions } from '../../src/sandbox/options/contract-options.ts'
import { quirkOptions } from '../../src/sandbox/quirks/quirk-options.ts'
import { captured, muster } from './captured-world.ts'

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

test('takes options and faults, and tells what broke the contract', async () => {
  const { ask, end } = await started('--option extra=1 --option extra-in=envelope --fault html-page=1')
  expect(await (await ask('/me')).text()).toContain('<!doctype html>')
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

test('says nothing when nothing broke it', async () => {
  const { ask, end } = await started('--option extra=1 --option extra-in=envelope')
  expect(Object.keys((await (await ask('/timesheets')).json()) as object)).toHaveLength(4)
  expect(await end()).toEqual({ code: 0, err: '' })
})

test('takes quirks of all resources and of one', async () => {
  const { ask, end } = await started(
    '--quirk page-cap=5 --quirk expenses:page-cap=2 --quirk expenses:empty=no',
  )
  const rows = async (path: string) =>
    ((await (await ask(path)).json()) as { data: readonly unknown[] }).data.length
  expect([await rows('/timesheets'), await rows('/expenses')]).toEqual([5, 2])
  expect(await end()).toEqual({ code: 0, err: '' })
})

test.each([
  ['--option tos=exclusive', 'muster: there is no option tos: did you mean to?\n'],
  ['--fault resett=0.1', 'muster: there is no fault resett: did you mean reset?\n'],
  ['--quirk hiden=3', 'muster: there is no quirk hiden: did you mean hidden?\n'],
  ['--quirk sheets:hidden=3', 'muster: there is no resource sheets: did you mean timesheets?\n'],
])('refuses %s', async (line, message) => {
  expect(await muster(`sandbox ${line}`)).toMatchObject({ code: 2, err: message })
})

test('--help lists every option, quirk and fault', async () => {
  const { out } = await muster('sandbox --help')
  for (const name of [contractOptions, quirkOptions, faultTable].flatMap(Object.keys))
    expect(out).toMatch(new RegExp(`^  ${name} +\\S`, 'm'))
})
