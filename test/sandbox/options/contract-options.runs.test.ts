/** Each reading of what the contract leaves open, as a client sees it. */
import { describe, expect, it } from 'vitest'
import {
  type ContractOptions,
  contractOptions,
  optionsOf,
  parseOption,
} from '../../../src/sandbox/options.ts'
import { type Body, openSandbox } from '../open-sandbox.ts'

const times = [
  '2026-03-28T23:30:00.000Z',
  '2026-03-29T00:00:00.000Z',
  '2026-03-29T12:00:00.000Z',
  '2026-03-29T22:59:59.999Z',
  '2026-03-29T23:00:00.000Z',
  '2026-03-30T00:00:00.000Z',
]
const timesheets = times.map((createdAt, index) => ({ id: `t${index}`, createdAt, updatedAt: createdAt }))

async function found(options: Partial<ContractOptions>, query: string): Promise<string[]> {
  const sandbox = await openSandbox({ records: { timesheets }, options })
  const { body } = await sandbox.get(`/timesheets?sortBy=createdAt&sortOrder=asc&${query}`)
  return body.data.map((row: Body) => row.id)
}

describe('days', () => {
  const oneDay = 'from=2026-03-29&to=2026-03-29'
  it.each([
    [{}, oneDay, ['t1', 't2', 't3', 't4']],
    [{ to: 'midnight' }, oneDay, ['t1']],
    [{ to: 'exclusive' }, oneDay, []],
    [{ to: 'exclusive' }, 'from=2026-03-29&to=2026-03-30', ['t1', 't2', 't3', 't4']],
    [{ from: 'exclusive' }, 'from=2026-03-28', ['t1', 't2', 't3', 't4', 't5']],
    // In London the clocks go forward on that day: it ends at 23:00 UTC.
    [{ 'day-zone': 'Europe/London' }, oneDay, ['t1', 't2', 't3']],
    [{ 'day-zone': '+01:00' }, oneDay, ['t0', 't1', 't2', 't3']],
    [{ 'day-zone': '-12:00' }, 'from=2026-03-29', ['t2', 't3', 't4', 't5']],
  ] as [Partial<ContractOptions>, string, string[]][])(
    'with %j hold, for %s, %j',
    async (options, query, ids) => {
      expect(await found(options, query)).toEqual(ids)
    },
  )
})

describe('absent values', () => {
  const expenses = [{ id: 'e1', value: 1, hours: null, rate: { value: 3 }, receipts: [] }]
  const answered = async (absent: ContractOptions['absent'], query = '') => {
    const sandbox = await openSandbox({ records: { expenses }, options: { absent } })
    return (await sandbox.get(`/expenses${query}`)).body.data[0]
  }

  it('are as in the records, null, left out, or drawn', async () => {
    expect(await answered('mixed')).toEqual(expenses[0])
    expect(await answered('omitted')).toEqual({ id: 'e1', value: 1, rate: { value: 3 }, receipts: [] })
    const filled = await answered('null')
    expect(filled).toMatchObject({ id: 'e1', hours: null, category: null, rate: { description: null } })
    const drawn = await answered('random')
    expect(Object.keys(drawn).length).toBeGreaterThan(3)
    expect(Object.keys(drawn).length).toBeLessThan(Object.keys(filled).length)
    expect(await answered('random')).toEqual(drawn)
  })

  it('are not added to selected fields', async () => {
    expect(await answered('null', '?fields=id,hours')).toEqual({ id: 'e1', hours: null })
  })
})

describe('extra fields', () => {
  const expenses = Array.from({ length: 200 }, (_, n) => ({ id: `e${n}`, rate: { value: n } }))
  const shares = async (options: Partial<ContractOptions>) => {
    const sandbox = await openSandbox({ records: { expenses }, options })
    const { body } = await sandbox.get('/expenses?limit=200')
    const more = (value: object, usual: number) => (Object.keys(value).length > usual ? 1 : 0)
    const count = (pick: (row: Body) => number) =>
      body.data.reduce((sum: number, row: Body) => sum + pick(row), 0)
    return {
      records: count(row => more(row, 2)),
      nested: count(row => more(row.rate, 1)),
      envelope: more(body, 3) + more(body.meta, 3),
    }
  }

  it('come at the given rate, in the given objects', async () => {
    expect(await shares({})).toEqual({ records: 0, nested: 0, envelope: 0 })
    const half = await shares({ extra: 0.5 })
    expect(half).toMatchObject({ nested: 0, envelope: 0 })
    expect(half.records).toBeGreaterThan(60)
    expect(half.records).toBeLessThan(140)
    expect(await shares({ extra: 1, 'extra-in': 'nested' })).toEqual({ records: 0, nested: 200, envelope: 0 })
    expect(await shares({ extra: 1, 'extra-in': 'envelope' })).toEqual({
      records: 0,
      nested: 0,
      envelope: 2,
    })
    expect(await shares({ extra: 1, 'extra-in': 'everywhere' })).toEqual({
      records: 200,
      nested: 200,
      envelope: 2,
    })
  })
})

describe('settings', () => {
  it('have a default for each option, and each default is a valid value', () => {
    expect(Object.keys(optionsOf())).toEqual(Object.keys(contractOptions))
    for (const [name, { fallback }] of Object.entries(contractOptions))
      expect(parseOption(`${name}=${fallback}`)).toEqual({ [name]: fallback })
  })

  it.each([
    ['t0=exclusive', 'there is no option t0: did you mean to?'],
    ['xyzzy=1', expect.stringMatching(/^there is no option xyzzy: name one of from, to, day-zone, /)],
    ['to=sometimes', 'option to does not take "sometimes": give inclusive, midnight, exclusive'],
    ['to', 'option to does not take "": give inclusive, midnight, exclusive'],
    ['day-zone=Mars/Base', 'option day-zone does not take "Mars/Base": give Europe/London, +05:30, …'],
    ['day-zone=+15:00', 'option day-zone does not take "+15:00": give Europe/London, +05:30, …'],
    ['extra=2', 'option extra does not take "2": give 0 to 1'],
    ['constructor=1', expect.stringMatching(/^there is no option constructor: /)],
  ])('refuse %s', (text, message) => {
    expect(() => parseOption(text)).toThrow(expect.objectContaining({ message, exitCode: 2 }))
  })
})

it('shuffles the ties of lists without a unique sort key too', async () => {
  const users = Array.from({ length: 40 }, (_, n) => ({ companyId: 'c1', id: `u${n}`, name: 'Same Name' }))
  const accessRuleMappings = Array.from({ length: 40 }, (_, n) => ({
    id: `r${n}`,
    a: 'role',
    can: `act${n}`,
  }))
  const companies = [{ id: 'c1', name: 'One' }]
  const sandbox = await openSandbox({ records: { companies, companyUsers: users, accessRuleMappings } })
  for (const path of ['/access-rule-mappings', '/companies/c1/user-permissions']) {
    const order = async () => (await sandbox.get(`${path}?limit=200`)).body.data.map((row: Body) => row.id)
    sandbox.setOptions({ ties: 'stable' })
    const usual = await order()
    expect(await order()).toEqual(usual)
    sandbox.setOptions({ ties: 'random' })
    const shuffled = await order()
    expect(shuffled).not.toEqual(usual)
    expect(shuffled.toSorted()).toEqual(usual.toSorted())
  }
})
