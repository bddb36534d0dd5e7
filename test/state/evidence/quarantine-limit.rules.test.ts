/** When too many records are in quarantine, or refused by their ids, and which of the two is said. */
import { beforeEach, describe, expect, test } from 'vitest'
import {
  describeQuarantined,
  describeRefused,
  type Excess,
  intolerable,
  tooManyQuarantined,
} from '../../../src/state/evidence/quarantine-limit.ts'
import { discovered, hour, ledgerBench, quarantined, run } from '../../support/ledger-bench.ts'

const bench = ledgerBench()

/** One record a list is tolerable. */
beforeEach(() =>
  bench.insert(
    'ops.run',
    run('run-1', { started_at: hour(3), quarantine_records: 1, quarantine_percent: 1 }),
  ),
)

const inQuarantine = (resource: string, many: number) =>
  bench.insert(
    'ops.quarantine',
    ...Array.from({ length: many }, (_, at) => quarantined(`${resource} ${at}`, { resource })),
  )
const refused = (resource: string, many: number) =>
  bench.insert(
    'ops.discovered',
    ...Array.from({ length: many }, (_, at) => discovered(`r${at}`, { resource, state: 'refused' })),
  )
const excess = (resource: string, records: number, kind: Excess['kind'] = 'in quarantine'): Excess => ({
  ...{ kind, resource, records, tolerated: 1 },
})

test('records in quarantine are named list by list, and end a command with exit code 3', () => {
  const found = [excess('expenses', 2), excess('rates', 9, 'refused'), excess('sites', 1200)]
  const error = describeQuarantined(found, 'the rest is published')
  expect(error?.report.what).toBe(
    'too many records could not be loaded: 2 records of expenses in quarantine, at most 1 tolerated; 1,200 records of sites in quarantine, at most 1 tolerated',
  )
  expect(error?.report.next).toMatch(/^select \* from ops\.quarantine .*; the rest is published$/)
  expect(error?.exitCode).toBe(3)
  expect(describeQuarantined([excess('rates', 9, 'refused')], '')).toBeUndefined()
})

test('records that are refused now are named list by list', () => {
  const found = [excess('expenses', 2), excess('rates', 1200, 'refused'), excess('trades', 2, 'refused')]
  expect(describeRefused(found)?.report.what).toBe(
    'too many stored records are refused now: 1,200 of rates, at most 1 tolerated; 2 of trades, at most 1 tolerated',
  )
  expect(describeRefused([excess('expenses', 2)])).toBeUndefined()
})

describe('of what the ledger has', () => {
  const meanwhile = 'the rest is published'
  const why = async (of?: readonly string[]) =>
    (await intolerable(bench.engine, of ? { of, meanwhile } : { meanwhile }))?.report.what

  test('one record a list is tolerable', async () => {
    await inQuarantine('expenses', 1)
    await refused('trades', 1)
    expect(await why()).toBeUndefined()
  })

  test('more are not: those in quarantine in the order of lists, and only of lists that are asked for', async () => {
    await inQuarantine('sites', 2)
    await inQuarantine('expenses', 2)
    await refused('rates', 2)
    const first =
      '2 records of expenses in quarantine, at most 1 tolerated; 2 records of sites in quarantine, at most 1 tolerated'
    expect(await why()).toBe(`too many records could not be loaded: ${first}`)
    expect(await why(['rates'])).toBe(
      'too many stored records are refused now: 2 of rates, at most 1 tolerated',
    )
    expect(await why(['users'])).toBeUndefined()
    const limited = await tooManyQuarantined(bench.engine, { of: ['rates'], meanwhile })
    expect(limited).toBeUndefined()
    expect((await tooManyQuarantined(bench.engine, { of: ['sites'], meanwhile }))?.report).toMatchObject({
      what: 'too many records could not be loaded: 2 records of sites in quarantine, at most 1 tolerated',
      next: expect.stringMatching(/the rest is published$/),
    })
  })
})
