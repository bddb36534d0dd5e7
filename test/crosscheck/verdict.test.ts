/** A difference is explained by whole records: each with all that it adds, and one that changed meanwhile with all or nothing. */
import { expect, test } from 'vitest'
import type { FindingKind } from '../../src/crosscheck/explain/finding.ts'
import { definitionDefaults } from '../../src/crosscheck/metrics/definition.ts'
import { verdictsOf } from '../../src/crosscheck/verdict.ts'

const metric = 'workersOverHours'
const askedAt = '2026-11-02T03:00:00.000Z'
const [before, meanwhile] = ['2026-11-02T01:00:00.000Z', '2026-11-02T03:00:20.000Z']

const verdict = (more: number, records: readonly (readonly [FindingKind, number, string])[]) =>
  verdictsOf(
    {
      ...{ groupBy: 'all', label: 'all', keys: {}, group: {} },
      ours: { workerWeeks: 10, totalHours: 400 },
      theirs: { workerWeeks: 10, totalHours: 400 + more },
    },
    {
      ...{ metric, keys: {}, definition: definitionDefaults, askedAt },
      findings: records.map(([kind, amount, changedAt], index) => ({
        ...{ metric, kind, record: `TS-${index}`, sentence: '', changedAt },
        ...{ ours: [], theirs: [{ keys: {}, amount }] },
      })),
    },
  ).find(({ figure }) => figure === 'totalHours')?.verdict

interface Case {
  readonly name: string
  readonly more: number
  readonly records: readonly (readonly [FindingKind, number, string])[]
  readonly expected: string
}

const cases: readonly Case[] = [
  {
    name: 'a record that changed before accounts for all of it',
    more: 8,
    records: [['newer', 8, before]],
    expected: 'explained',
  },
  { name: 'it accounts for a part', more: 16, records: [['newer', 8, before]], expected: 'unexplained' },
  { name: 'it would account for more', more: -8, records: [['newer', 8, before]], expected: 'unexplained' },
  {
    name: 'of two that changed meanwhile, one is in the figure',
    more: 8,
    records: [
      ['newer', 8, meanwhile],
      ['newer', 40, meanwhile],
    ],
    expected: 'explained',
  },
  {
    name: 'of two that changed meanwhile, none and no other difference',
    more: 9,
    records: [
      ['newer', 8, meanwhile],
      ['newer', 40, meanwhile],
    ],
    expected: 'unexplained',
  },
  {
    name: 'one changed before, and one meanwhile that is not in it',
    more: 8,
    records: [
      ['newer', 8, before],
      ['newer', 40, meanwhile],
    ],
    expected: 'explained',
  },
  {
    name: 'what went meanwhile',
    more: 0.5,
    records: [
      ['deleted', -40, before],
      ['newer', 0.5, before],
    ],
    expected: 'explained',
  },
  {
    name: 'a record that was lost is no explanation, whatever changed',
    more: 8,
    records: [
      ['newer', 8, meanwhile],
      ['lost', 0, before],
    ],
    expected: 'unexplained',
  },
]

test.each(cases)('$name', ({ more, records, expected }) => {
  expect(verdict(more, records)).toBe(expected)
})

test('of a hundred that changed meanwhile, some', () => {
  const records = Array.from({ length: 100 }, (_, index) => ['newer', 7.5 + (index % 3), meanwhile] as const)
  expect(verdict(7.5 + 8.5 + 9.5, records)).toBe('explained')
  expect(verdict(-7.5, records)).toBe('unexplained')
})
