/** What the report of schema drift takes in: every difference once, and no more of them than it has room for. */
import { describe, expect, test } from 'vitest'
import { freshDrift, recordDrift, undeclaredPaths } from '../../../src/state/evidence/drift.ts'
import { hour, ledgerBench } from '../../support/ledger-bench.ts'

const bench = ledgerBench()

const field = (path: string) => ({ path, kind: 'unknown field' as const })
const rounded = (path: string) => ({ path, kind: 'rounded' as const })
const many = (number: number) => Array.from({ length: number }, (_, at) => rounded(`p${at}`))

describe('a difference is fresh', () => {
  test('once by kind and path, the fields first', () => {
    const known = [field('a'), rounded('b')]
    const rows = [rounded('a'), field('a'), rounded('b'), field('b'), rounded('c')]
    expect(freshDrift(known, rows)).toEqual([field('b'), rounded('a'), rounded('c')])
  })

  test.each([
    [998, 2],
    [999, 1],
    [1000, 0],
    [1001, 0],
  ])('while there is room beyond %i others: %i of two', (before, added) => {
    expect(freshDrift(many(before), [rounded('x'), rounded('y')])).toHaveLength(added)
  })

  test('however many there are, if it is an undeclared field, which takes no room', () => {
    const fields = Array.from({ length: 1000 }, (_, at) => field(`f${at}`))
    expect(freshDrift(many(1000), fields)).toHaveLength(1000)
    expect(freshDrift(fields, [rounded('x')])).toEqual([rounded('x')])
  })
})

describe('drift', () => {
  const page = { runId: 'run-1', fetchedAt: hour(1) }
  const found = [{ path: 'a.b', kind: 'unknown field' as const, type: 'number' }]
  const values = [
    { path: 'status', value: 'one' },
    { path: 'status', value: 'two' },
  ]
  const all = () => bench.rows('select * from ops.schema_drift order by resource, path')
  const unknown = () => bench.column('select value from pii.unknown_value order by 1')

  test('is recorded by the page that showed it first', async () => {
    await recordDrift(bench.engine, 'expenses', { found, values, page })
    await recordDrift(bench.engine, 'expenses', {
      found,
      values,
      page: { runId: 'run-2', fetchedAt: hour(2) },
    })
    const by = { run_id: 'run-1', seen_at: hour(1), resource: 'expenses' }
    expect(await all()).toEqual([
      { ...by, path: 'a.b', kind: 'unknown field', example_type: 'number' },
      { ...by, path: 'status', kind: 'unknown value', example_type: 'text' },
    ])
    const value = { ...by, path: 'status' }
    expect(await bench.rows('select * from pii.unknown_value order by value')).toEqual([
      { ...value, value: 'one' },
      { ...value, value: 'two' },
    ])
  })

  test.each([
    ['one of each', { found, values: values.slice(0, 1) }, 2, 1],
    ['fields alone', { found, values: [] }, 1, 0],
    ['values alone', { found: [], values }, 1, 2],
    ['nothing', { found: [], values: [] }, 0, 0],
  ])('of %s is recorded', async (...[, observed, differences, texts]) => {
    await recordDrift(bench.engine, 'expenses', { ...observed, page })
    expect([(await all()).length, (await unknown()).length]).toEqual([differences, texts])
  })

  test('without a page is not recorded', async () => {
    await recordDrift(bench.engine, 'expenses', { found, values, page: undefined })
    expect(await all()).toEqual([])
  })

  test('that another process recorded meanwhile stays', async () => {
    const twice = [...found, ...found]
    await recordDrift(bench.engine, 'expenses', { found: twice, values: [...values, ...values], page })
    expect(await all()).toHaveLength(2)
  })

  test('of a resource is its own', async () => {
    await recordDrift(bench.engine, 'expenses', { found, values, page })
    await recordDrift(bench.engine, 'sites', {
      found: [{ ...found[0], path: 'c' } as never],
      values: [],
      page,
    })
    expect(await undeclaredPaths(bench.engine, 'expenses')).toEqual(['a.b'])
    expect(await undeclaredPaths(bench.engine, 'sites')).toEqual(['c'])
  })
})
