/** `files upload` and `get`: wrong usage costs no request, and what they print. */
import { describe, expect, test } from 'vitest'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { type Body, openSandbox } from '../sandbox/open-sandbox.ts'
import { PDF } from '../sandbox/writes/worker-inputs.ts'
import { muster } from '../support/captured-world.ts'
import { writingWorld } from './written-files.ts'

const sandbox = await openSandbox({ scale: 0.05 })
const { file, run } = writingWorld(sandbox.url)
file('card.pdf', PDF)
file('noname', PDF)
file('fake.pdf', 'text')

describe('files upload', () => {
  test.each([
    ['card.pdf', '--resource is missing: give worker or invoice'],
    [
      'card.pdf --resource workers',
      '--resource workers is not known: did you mean worker? The other is invoice',
    ],
    ['card.pdf --resource worker', '--purpose is missing: give attachments or rightToWork'],
    ['card.pdf --resource invoice --purpose paymnt', '--purpose paymnt is not known: did you mean payment?'],
    ['card.pdf --resource worker --purpose attachments', '--record is missing: give the id of the record'],
    [
      'card.pdf --resource worker --purpose attachments --record a/b',
      '--record is not an id: give the id of the record',
    ],
    [
      'noname --resource worker --purpose attachments --record w',
      'noname has a name that the service does not accept: use 1 to 255',
    ],
    ['fake.pdf --resource worker --purpose attachments --record w', 'fake.pdf is not one of application/pdf'],
    ['none.pdf --resource worker --purpose attachments --record w', 'none.pdf is not there'],
  ])('%s', async (args, message) => {
    const before = sandbox.requests.length
    const { code, err } = await run(`files upload ${args}`)
    expect([code, err, sandbox.requests.length]).toEqual([
      2,
      expect.stringContaining(`muster: ${message}`),
      before,
    ])
  })

  test('asks for a key that may', async () => {
    const company = writingWorld(sandbox.url, sandboxKeys.company)
    company.file('card.pdf', PDF)
    const worker = await company.run(
      'files upload card.pdf --resource worker --purpose attachments --record w',
    )
    expect([worker.code, worker.err]).toEqual([78, expect.stringContaining('agency-scoped key')])
    const invoice = await company.run('files upload card.pdf --resource invoice --purpose payment --record w')
    expect([invoice.code, invoice.err]).toEqual([78, expect.stringContaining('no scope write:invoices')])
  })

  test('for the payment of an invoice hands back a token as JSON', async () => {
    const pending = (sandbox.world.all('invoices') as Body[]).find(({ status }) => status === 'pending')
    const finance = writingWorld(sandbox.url, sandboxKeys.finance)
    finance.file('paid.pdf', PDF)
    const line = `files upload paid.pdf --resource invoice --purpose payment --record ${pending.id} --json`
    const { code, out } = await finance.run(`${line} --company ${pending.company.id}`)
    expect(code).toBe(0)
    expect(JSON.parse(out)).toEqual({ fileName: 'paid.pdf', uploadToken: expect.any(String), expiresIn: 900 })
  })
})

describe('get', () => {
  const company = writingWorld(sandbox.url, sandboxKeys.company)
  const [{ id }] = sandbox.world.all('companies') as [Body]

  test.each([
    [`companies ${id} --param includeConfig=true`, true],
    [`/companies/${id} --param includeConfig=true`, true],
    [`/companies ${id}`, false],
  ])('%s', async (args, hasConfig) => {
    const { code, out } = await company.run(`get ${args}`)
    const record = JSON.parse(out)
    expect([code, record.id, record.config !== undefined]).toEqual([0, id, hasConfig])
    expect(out).toMatch(/^\{\n {2}"/)
  })

  test('me, and what has no id of its own', async () => {
    expect(JSON.parse((await company.run('get me')).out).name).toBe('Sandbox company key')
    const matrix = await company.run(`get competency-matrix ${id}`)
    expect(JSON.parse(matrix.out).company.id).toBe(id)
  })

  test.each([
    [
      'requisition x',
      'there is no resource requisition: did you mean requisitions? The others are me, companies',
    ],
    [
      'timesheets x',
      'the service has no request for a single record of timesheets: look in the warehouse with muster sql',
    ],
    [
      'timesheet x',
      'there is no resource timesheet, did you mean timesheets? The service has no request for a single record of them: look in the warehouse with muster sql',
    ],
    ['company x', 'there is no resource company: did you mean companies?'],
    ['vacancy x', 'there is no resource vacancy: did you mean requisitions?'],
    ['companies', 'companies needs an id: muster get companies ID'],
    ['me x', 'me takes no id: muster get me'],
    ['trades a/b', '"a/b" is not an id'],
    ['/trades/x?includeRates=true', '"/trades/x?includeRates=true" is not a path: write it as /trades/ID'],
    ['trades x --param includeRates', '--param is not name=value'],
    [
      'trades x --param includeRate=true',
      'there is no parameter includeRate here: did you mean includeRates? The other is includeCompetencyMatrix',
    ],
    ['/trades/x --param includeRate=true', 'there is no parameter includeRate here'],
    ['sites x --param a=b', 'there is no parameter a here: leave it out'],
  ])('%s', async (args, message) => {
    const before = sandbox.requests.length
    const { code, err } = await company.run(`get ${args}`)
    expect([code, err, sandbox.requests.length]).toEqual([2, expect.stringContaining(message), before])
  })

  test('says so when there is no such record', async () => {
    const { code, err } = await company.run('get companies ffffffffffffffffffffffff')
    expect([code, err]).toEqual([1, expect.stringMatching(/^muster: not found \(GET \/companies\/f+: 404/)])
  })
})

test('sandbox --lists prints the values that writes choose from', async () => {
  const { code, out } = await muster('sandbox --lists')
  const lists = JSON.parse(out)
  expect(code).toBe(0)
  expect(lists.telephoneCodes).toContain('+44')
  expect(lists.countries).toContain('United Kingdom')
  expect(lists.masterTrades[0]).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{24}$/),
    name: 'General Labourer',
  })
  expect(lists.qualifications.length).toBeGreaterThan(5)
})
