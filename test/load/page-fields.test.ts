/** The search of the bytes of a page finds the records and undeclared fields that JSON.parse finds. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Table } from '../../src/contract/fields/table.ts'
import { timesheets } from '../../src/contract/resources/timesheets.ts'
import { knownFields } from '../../src/load/page/known-fields.ts'
import { recordsOn } from '../../src/load/page/page-fields.ts'
import { withStandIns } from '../../src/load/page/stand-ins.ts'
import { undeclaredLeaves } from '../../src/load/page/undeclared-leaves.ts'
import { countLeaves, jsonText, longKey } from './json-records.ts'

const known = knownFields(timesheets.table as Table)
const page = (data: unknown, indent?: number): Buffer =>
  Buffer.from(JSON.stringify({ success: true, data, meta: { page: 1 } }, null, indent))

test('records are cut where JSON.parse cuts them, and each undeclared value is found with its leaves', () => {
  fc.assert(
    fc.property(fc.array(jsonText, { maxLength: 4 }), fc.constantFrom('', ' \n'), (data, gap) => {
      const text = `{"success":true,${gap}"data":${gap}[${gap}${data.join(`${gap},${gap}`)}]}`
      const bytes = Buffer.from(text)
      const sent = (JSON.parse(text) as { data: unknown[] }).data
      const found = [...recordsOn(bytes, { rows: 'data', known, max: 20_000 })]
      const json = ({ start, end }: { start: number; end: number }): unknown =>
        JSON.parse(bytes.toString('utf8', start, end))
      expect(found.map(json)).toEqual(sent)
      for (const [index, { undeclared }] of found.entries()) {
        for (const field of undeclared) {
          const below = (inner: unknown, step: string | number) => (inner as Record<string, unknown>)[step]
          expect(json(field)).toEqual(field.at.reduce(below, sent[index]))
        }
        const leaves = undeclaredLeaves(bytes, undeclared)
        const counts = undeclared.map(field =>
          bytes.toString('utf8', field.key, field.end).includes(`${longKey}":`)
            ? 1
            : countLeaves(json(field)),
        )
        expect(leaves).toHaveLength(counts.reduce((sum, one) => sum + one, 0))
        expect(new Set(leaves.map(({ path }) => path)).size).toBe(leaves.length)
        expect(leaves.filter(({ path, text }) => /[\0\p{Cs}]/u.test(path + text))).toEqual([])
      }
    }),
    { numRuns: 2000 },
  )
})

test('a field of a declared record is undeclared only where nothing reads it', () => {
  const record = {
    id: '1',
    worker: { id: 'w', name: 'n', extra: 1 },
    timelogs: [{ id: 'l', note: 2, hours: { total: 1, odd: [3] } }],
    status: 's',
  }
  const bytes = page([record, record])
  for (const { undeclared } of recordsOn(bytes, { rows: 'data', known, max: 20_000 }))
    expect(undeclaredLeaves(bytes, undeclared).map(({ path, text }) => [path, text])).toEqual([
      ['worker.extra', '1'],
      ['timelogs[0].note', '2'],
      ['timelogs[0].hours.odd[0]', '3'],
    ])
})

test('what is too large for rows is one JSON text: many leaves, deep nesting, a long key; numbers keep their digits', () => {
  const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`
  const many = JSON.stringify(Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`k${n}`, n])))
  const long = 'x'.repeat(5000)
  const digits = '9'.repeat(300)
  const text = `{"deep":${deep},"many":${many},"${long}":1,"big":${digits},"huge":1e400,"same":1,"same":2,"a.b":3,"a":{"b":4}}`
  const bytes = Buffer.from(`{"data":[${text}]}`)
  const [record] = recordsOn(bytes, { rows: 'data', known, max: 20_000 })
  expect(record?.depth).toBe(100_001)
  const leaves = undeclaredLeaves(bytes, record?.undeclared ?? [])
  const found = Object.fromEntries(
    leaves.map(({ path, text: value, type }) => [path.slice(0, 10), [type, value]]),
  )
  expect(found.deep).toEqual(['json', deep])
  expect(found.many).toEqual(['json', many])
  expect(found.xxxxxxxxxx).toEqual(['json', `{"${long}":1}`])
  expect(found).toMatchObject({
    big: ['number', digits],
    huge: ['number', '1e400'],
    same: ['number', '1'],
    'same#2': ['number', '2'],
  })
  expect(found).toMatchObject({ '"a.b"': ['number', '3'], 'a.b': ['number', '4'] })
})

test('a broken record gives way to its id, and the others stay', () => {
  const bytes = Buffer.from(
    '{"success":true,"data":[{"id":"a"},{"id":"b","note":"x\u0001"},{"id":"c"}],"meta":{}}',
  )
  const copy = withStandIns(bytes, 'data', new Map())
  expect(JSON.parse(copy.bytes.toString())).toEqual({ data: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] })
  expect(copy.replaced).toMatchObject([{ position: 2, reason: 'not JSON' }])
})
