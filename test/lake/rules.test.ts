/** Rules of the log, of schemas, of cuts and of snapshots, without files. */
import { describe, expect, test } from 'vitest'
import {
  type Action,
  applyCommit,
  isUnaffected,
  noTable,
  parseActions,
  requireOurs,
} from '../../src/lake/actions.ts'
import { columnsIn, growSchema, lakeColumn, schemaText, widerType } from '../../src/lake/columns.ts'
import { boundsBetween, conditionOf, cutColumn, partNumber, partsOf } from '../../src/lake/cut.ts'
import { fingerprintSql } from '../../src/lake/files.ts'
import { addDecimals, requireOwnName } from '../../src/lake/snapshots.ts'
import { timeOfRun } from '../../src/lake/vacuum.ts'

const added = (path: string, connection = 'acme'): Action => ({
  add: { path, partitionValues: { connection }, size: 1, modificationTime: 1, dataChange: true },
})
const removed = (path: string): Action => ({ remove: { path, dataChange: true, deletionTimestamp: 5 } })
const protocol: Action = { protocol: { minReaderVersion: 1, minWriterVersion: 2 } }
const metaData = (schemaString: string): Action => ({
  metaData: {
    id: 'x',
    format: { provider: 'parquet', options: {} },
    schemaString,
    partitionColumns: ['connection'],
    configuration: {},
  },
})

describe('the state of a table', () => {
  const first = applyCommit(noTable, 0, [protocol, metaData('one'), added('a'), added('b', 'north')])

  test('has the files that were added and not removed', () => {
    const second = applyCommit(first, 1, [removed('a'), added('c')])
    expect([...second.files.keys()]).toEqual(['b', 'c'])
    expect([...second.removed.keys()]).toEqual(['a'])
    expect(second.version).toBe(1)
  })

  test('is unaffected by another connection, and affected by its own files or a new column', () => {
    const north = applyCommit(first, 1, [removed('b'), added('d', 'north')])
    expect(isUnaffected(first, north, 'acme')).toBe(true)
    expect(isUnaffected(first, north, undefined)).toBe(false)
    expect(isUnaffected(first, applyCommit(first, 1, [added('e')]), 'acme')).toBe(false)
    expect(isUnaffected(first, applyCommit(first, 1, [metaData('two')]), 'acme')).toBe(false)
  })

  test('of half a commit is an error in one line', () => {
    expect(() => parseActions('{"add":{"path"', 'T/1.json')).toThrow(/only half of it is there \(T\/1.json\)/)
    expect(() => parseActions('', 'T/1.json')).toThrow(/damaged/)
    expect(parseActions('{"txn":{"appId":"other"}}\n', 'T')).toHaveLength(1)
  })

  test('of another program or protocol is refused', () => {
    expect(() => requireOurs(first, 'T')).not.toThrow()
    const newer = applyCommit(first, 1, [{ protocol: { minReaderVersion: 3, minWriterVersion: 7 } }])
    expect(() => requireOurs(newer, 'T')).toThrow(/newer protocol/)
    const [meta] = [metaData('one').metaData]
    const other = applyCommit(first, 1, [{ metaData: meta && { ...meta, partitionColumns: [] } }])
    expect(() => requireOurs(other, 'T')).toThrow(/muster did not create it/)
  })
})

describe('columns', () => {
  test.each([
    ['DECIMAL(18,4)', 'decimal(18,4)'],
    ['TIMESTAMP WITH TIME ZONE', 'timestamp'],
    ['BIGINT', 'long'],
    ['HUGEINT', 'decimal(38,0)'],
    ['TIME', 'string'],
    ['VARCHAR[]', 'string'],
  ])('of type %s are %s in the lake', (type, expected) => {
    expect(lakeColumn({ name: 'x', type, description: '' }).type).toBe(expected)
  })

  test('keep their names, types and comments in the schema, after the connection', () => {
    const columns = [{ name: 'pay', type: 'decimal(18,4)', description: 'What is paid.' }]
    const text = schemaText(columns)
    expect(columnsIn(text)).toEqual(columns)
    expect(JSON.parse(text).fields[0].name).toBe('connection')
  })

  test.each([
    ['integer', 'long', 'long'],
    ['decimal(18,4)', 'decimal(12,6)', 'decimal(20,6)'],
    ['long', 'decimal(18,4)', 'decimal(23,4)'],
    ['string', 'long', undefined],
  ])('%s and %s fit in %s', (one, other, wider) => {
    expect(widerType(one, other)).toBe(wider)
    expect(widerType(other, one)).toBe(wider)
  })

  test('are added and widened, never removed, and refused when no type holds both', () => {
    const column = (name: string, type: string) => ({ name, type, description: '' })
    const stored = [column('a', 'integer'), column('gone', 'string')]
    const grown = growSchema(stored, [column('a', 'long'), column('b', 'date')], 'T')
    expect(grown).toMatchObject({ isWidened: true, isChanged: true })
    expect(grown.columns.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'a long',
      'gone string',
      'b date',
    ])
    expect(growSchema(stored, stored, 'T')).toMatchObject({ isWidened: false, isChanged: false })
    expect(() => growSchema(stored, [column('a', 'string')], 'T')).toThrow(
      /column a is integer in the lake and string/,
    )
  })

  test('of loading and runs do not count as changes', () => {
    const column = (name: string) => ({ name, type: 'string', description: '' })
    expect(fingerprintSql(['id', 'loaded_at', 'run_id'].map(column))).toBe(
      `concat(count(*), '-', sum(hash("id")))`,
    )
  })
})

describe('a cut', () => {
  // Ids of 2026-01-10, 2026-01-20, 2026-02-05 and 2026-02-25.
  const steps = ['69619580', '696ec480', '6983dc80', '699e3a80'].map(start => ({ start, rows: 40 }))

  test('is at the beginning of a month where there is one', () => {
    expect(boundsBetween(steps, 100)).toEqual(['697e9780'])
    expect(boundsBetween(steps, 1000)).toEqual([])
  })

  test('is between ids of one month that has too many, and between ids that have no time', () => {
    expect(boundsBetween(steps, 40)).toEqual(['696ec480', '697e9780', '699e3a80'])
    expect(
      boundsBetween(
        ['a-1', 'b-1', 'z-9'].map(start => ({ start, rows: 5 })),
        10,
      ),
    ).toEqual(['z-9'])
  })

  test('gives each row one part', () => {
    expect(partsOf(['m', 'x'])).toEqual([
      { from: undefined, until: 'm' },
      { from: 'm', until: 'x' },
      { from: 'x', until: undefined },
    ])
    expect(conditionOf({ from: undefined, until: 'm' }, 'id')).toBe(`("id" < 'm' or "id" is null)`)
    expect(partNumber(['m', 'x'], 'id')).toBe(
      `case when "id" >= 'x' then 2 else case when "id" >= 'm' then 1 else 0 end end`,
    )
  })

  test('is by the first id of a fact; a dimension is one file', () => {
    const columns = ['timesheet_id', 'worker_id'].map(name => ({ name, type: 'string', description: '' }))
    expect(cutColumn('star/fact_timesheet', columns)).toBe('timesheet_id')
    expect(cutColumn('star/dim_site', columns)).toBeUndefined()
  })
})

describe('a snapshot', () => {
  test.each([
    ['1.0500', '-2.10', '-1.0500'],
    ['0', '12.3400', '12.3400'],
    ['-0.5', '0.5', '0.0'],
    ['9999999999999999.9999', '0.0001', '10000000000000000.0000'],
  ])('adds %s and %s exactly', (one, other, sum) => {
    expect(addDecimals(one, other)).toBe(sum)
  })

  test('is of one warehouse alone, under one name', () => {
    const claims = [{ connection: 'acme', warehouse: 'w1' }]
    expect(() => requireOwnName(claims, { connection: 'acme', warehouse: 'w1' }, 'L')).not.toThrow()
    expect(() => requireOwnName(claims, { connection: 'acme', warehouse: 'w2' }, 'L')).toThrow(
      /another warehouse/,
    )
    expect(() => requireOwnName(claims, { connection: 'new', warehouse: 'w1' }, 'L')).toThrow(
      /in the lake as acme/,
    )
  })

  test('and each file say when their run began', () => {
    expect(timeOfRun('20261128T023816123Z-abcd-1-0.parquet')).toBe(Date.parse('2026-11-28T02:38:16.123Z'))
    expect(timeOfRun('part-00000.parquet')).toBeUndefined()
  })
})
