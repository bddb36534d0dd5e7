/** The keys of a group: as the service writes them, as a label for comparing, and as a title. */
import { describe, expect, test } from 'vitest'
import { definitionDefaults, type MetricDefinition } from '../../../src/crosscheck/metrics/definition.ts'
import {
  groupLabel,
  groupObject,
  groupTitle,
  keysOf,
  type PartyNames,
  readNames,
  shapeOf,
} from '../../../src/crosscheck/metrics/group-keys.ts'

const names: PartyNames = {
  company: new Map([
    ['c1', 'Acme'],
    ['c2', 'Best'],
  ]),
  project: new Map([['p1', 'Bridge']]),
  agency: new Map([['a1', 'Hands']]),
}
const shape = (parts: Partial<MetricDefinition> = {}): MetricDefinition => ({
  ...definitionDefaults,
  ...parts,
})
const all = { company: 'c1', project: 'p1', agency: 'a1', month: '2026-02', week: '2026-02-09' }

describe('a group as the service writes it', () => {
  test('by default: references, the month, the ISO week', () => {
    expect(groupObject(all, shape(), names)).toEqual({
      company: { id: 'c1', name: 'Acme' },
      project: { id: 'p1', name: 'Bridge' },
      agency: { id: 'a1', name: 'Hands' },
      ...{ month: '2026-02', week: '2026-W07' },
    })
  })

  test.each([
    [{ refKey: 'id' }, { company: 'c1', week: '2026-W07' }],
    [{ refKey: 'name' }, { company: 'Acme', week: '2026-W07' }],
    [{ weekKey: 'firstDay' }, { company: { id: 'c1', name: 'Acme' }, week: '2026-02-09' }],
  ] as const)('under %o', (parts, group) => {
    expect(groupObject({ company: 'c1', week: '2026-02-09' }, shape(parts), names)).toEqual(group)
  })

  test('a month as its first day', () => {
    expect(groupObject({ month: '2026-02' }, shape({ monthKey: 'firstDay' }), names)).toEqual({
      month: '2026-02-01',
    })
  })

  test.each([
    ['2026-02-08', '2026-W07'],
    ['2026-02-07', '2026-W07'],
    ['2026-02-05', '2026-W06'],
    ['2025-12-28', '2026-W01'],
  ])('a week from %s is named for the ISO week of its fourth day: %s', (week, name) => {
    expect(groupObject({ week }, shape(), names)).toEqual({ week: name })
  })

  test('a record that names none has null, and an unknown id is its own name', () => {
    expect(groupObject({ project: '-1', agency: 'a9' }, shape(), names)).toEqual({
      project: null,
      agency: { id: 'a9', name: 'a9' },
    })
  })
})

test.each([
  [{}, ''],
  [{ week: '2026-W07', company: { id: 'c1', name: 'Acme' } }, 'c1|2026-W07'],
  [{ company: { name: 'Acme' } }, 'Acme'],
  [{ company: { code: 7 } }, '{"code":7}'],
  [{ company: 'Acme', project: null }, 'Acme|-1'],
  [{ project: '' }, '-1'],
  [{ project: undefined }, '-1'],
  [{ project: 7 }, '7'],
  [{ other: 'x', agency: 'a1' }, 'a1'],
])('the label of %o is "%s"', (group, label) => {
  expect(groupLabel(group)).toBe(label)
})

describe('our keys of a group of the service', () => {
  const keys = (group: object, parts: Partial<MetricDefinition> = {}) =>
    keysOf(group as Record<string, unknown>, { names, definition: shape(parts) })

  test.each([
    [{}, {}],
    [{ company: { id: 'c1', name: 'Acme' } }, { company: 'c1' }],
    [{ company: 'c1' }, { company: 'c1' }],
    [{ company: 'Best' }, { company: 'c2' }],
    [{ company: 'Nobody' }, { company: 'Nobody' }],
    [{ project: null }, { project: '-1' }],
    [{ agency: 'Hands' }, { agency: 'a1' }],
    [{ month: '2026-02' }, { month: '2026-02' }],
    [{ month: '2026-02-01' }, { month: '2026-02' }],
    [{ month: null, week: 7 }, {}],
    [{ week: '2026-W07' }, { week: '2026-02-09' }],
    [{ week: '2026-02-09' }, { week: '2026-02-09' }],
  ])('%o is %o', (group, expected) => {
    expect(keys(group)).toEqual(expected)
  })

  test('a week that begins on Saturday or Sunday begins before the Monday of its name', () => {
    expect(keys({ week: '2026-W07' }, { weekStart: 'sunday' })).toEqual({ week: '2026-02-08' })
    expect(keys({ week: '2026-W07' }, { weekStart: 'saturday' })).toEqual({ week: '2026-02-07' })
  })
})

test('a title has names, and says all and none', () => {
  expect(groupTitle({}, shape(), names)).toBe('all')
  expect(groupTitle({ ...all, project: '-1' }, shape(), names)).toBe('Acme, none, Hands, 2026-02, 2026-W07')
})

describe('the shape of keys that a group shows', () => {
  test.each([
    [{}, {}],
    [{ month: '2026-02' }, { monthKey: 'yearMonth' }],
    [{ month: '2026-02-01' }, { monthKey: 'firstDay' }],
    [{ month: 'x2026-02' }, { monthKey: undefined }],
    [{ month: '2026-02x' }, { monthKey: undefined }],
    [{ month: 'February' }, { monthKey: undefined }],
    [{ month: 2 }, { monthKey: undefined }],
    [{ week: '2026-W07' }, { weekKey: 'isoWeek' }],
    [{ week: '2026-02-09' }, { weekKey: 'firstDay' }],
    [{ week: 'x2026-02-09' }, { weekKey: undefined }],
    [{ week: '2026-02-09T00' }, { weekKey: undefined }],
    [{ week: 'a 2026-W07' }, { weekKey: undefined }],
    [{ week: '2026-W07-1' }, { weekKey: undefined }],
    [{ company: { id: 'c1' } }, { refKey: 'ref' }],
    [{ company: 'c1' }, { refKey: 'id' }],
    [{ agency: 'Hands' }, { refKey: 'name' }],
    [{ agency: 'Nobody' }, { refKey: undefined }],
    [{ agency: 7 }, { refKey: undefined }],
    [{ project: null }, {}],
    [{ company: null, project: 'p1' }, { refKey: 'id' }],
    [{ company: 'Acme', project: 'p1' }, { refKey: 'name' }],
  ])('%o: %o', (group, expected) => {
    expect(shapeOf(group as Record<string, unknown>, names)).toStrictEqual(expected)
  })
})

test('names are read by kind; one without a name goes by its id', async () => {
  const asked: string[] = []
  const engine = {
    rows: async <Row>(sql: string) => {
      asked.push(sql)
      return [
        { id: `${asked.length}`, name: `N${asked.length}` },
        { id: 'x', name: null },
      ] as Row[]
    },
  }
  const found = await readNames(engine)
  expect([...found.company, ...found.project, ...found.agency]).toEqual([
    ...[
      ['1', 'N1'],
      ['x', 'x'],
      ['2', 'N2'],
    ],
    ...[
      ['x', 'x'],
      ['3', 'N3'],
      ['x', 'x'],
    ],
  ])
  expect(asked.map(sql => /dim_\w+/.exec(sql)?.[0])).toEqual(['dim_company', 'dim_project', 'dim_agency'])
})
