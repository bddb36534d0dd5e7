/** As which type a record is read, which stages it has, and how its pages are named to DuckDB. */
import { describe, expect, test } from 'vitest'
import type { ShapeNode } from '../../../src/contract/derived/json-shape.ts'
import {
  derived,
  id,
  json,
  keyOf,
  ofList,
  ofRoot,
  ordinal,
  text,
} from '../../../src/contract/fields/column.ts'
import { resource } from '../../../src/contract/fields/resource.ts'
import { bridge, each, eachLeaf, fact } from '../../../src/contract/fields/table.ts'
import { stageStatement } from '../../../src/load/read/columns.ts'
import {
  type PageFile,
  perPage,
  perPageNumber,
  readLines,
  typedReader,
} from '../../../src/load/read/pages.ts'
import {
  below,
  isWhollyTyped,
  jsonPath,
  memberAttribute,
  nodeAt,
  stagedSources,
  stagePlan,
} from '../../../src/load/read/plan.ts'
import { isShort, structType, typeAt } from '../../../src/load/read/struct-type.ts'
import { boxes, vessels } from './vessels.ts'

const leaf = (type: Extract<ShapeNode, { kind: 'leaf' }>['type']): ShapeNode => ({ kind: 'leaf', type })
const object = (fields: Readonly<Record<string, ShapeNode>>): ShapeNode => ({
  kind: 'object',
  fields: new Map(Object.entries(fields)),
})
const list = (element: ShapeNode): ShapeNode => ({ kind: 'list', element })
const leaves = (number: number): Record<string, ShapeNode> =>
  Object.fromEntries(Array.from({ length: number }, (_, n) => [`f${n}`, leaf('text')]))

describe('a type', () => {
  test.each([
    ['number', 'DOUBLE'],
    ['money', 'DOUBLE'],
    ['quantity', 'DOUBLE'],
    ['coordinate', 'DOUBLE'],
    ['integer', 'VARCHAR'],
    ['text', 'VARCHAR'],
    ['boolean', 'VARCHAR'],
    ['timestamp', 'VARCHAR'],
    ['json', 'JSON'],
  ] as const)('of %s is read as %s', (type, read) => {
    expect(structType(leaf(type), 'typed')).toBe(read)
  })

  test('of an object has its fields; one without declared fields stays text', () => {
    expect(structType(object({ a: leaf('text'), 'b"c': object({ d: leaf('money') }) }), 'typed')).toBe(
      'STRUCT("a" VARCHAR, "b""c" STRUCT("d" DOUBLE))',
    )
    expect(structType(object({}), 'typed')).toBe('VARCHAR')
  })

  test.each([
    [8, true],
    [9, false],
  ])('of a list of elements with %i leaves is that of its elements: %s', (number, isCarried) => {
    const element = object(leaves(number))
    expect(isShort(element)).toBe(isCarried)
    const nested = object({ in: list(object(leaves(number - 1))), own: leaf('text') })
    expect(isShort(nested)).toBe(isCarried)
    expect(structType(list(element), 'typed').startsWith('STRUCT("f0"')).toBe(isCarried)
    if (!isCarried) expect(structType(list(element), 'typed')).toBe('STRUCT("%" BOOLEAN)[]')
    expect(structType(list(element), 'json')).toBe('JSON')
  })

  test('of a list of plain values is a list of them', () => {
    expect(structType(list(leaf('text')), 'typed')).toBe('VARCHAR[]')
  })

  test('at a path has nothing else', () => {
    expect(typeAt(['a', 'b'], 'X')).toBe('STRUCT("a" STRUCT("b" X))')
    expect(typeAt([], 'X')).toBe('X')
  })
})

describe('the stages of a resource', () => {
  test('are its own first, then those of its lists, each below that of its parent', () => {
    const { root, tables, documents } = stagePlan(vessels)
    expect(tables.map(({ name, table, origin }) => [name, table.name, origin?.parent.name])).toEqual([
      ['stage.stage_0', 'fact_vessel', undefined],
      ['stage.stage_1', 'bridge_vessel_note', 'stage.stage_0'],
      ['stage.stage_2', 'bridge_vessel_flag', 'stage.stage_0'],
      ['stage.stage_3', 'bridge_vessel_engine', 'stage.stage_0'],
      ['stage.stage_4', 'bridge_vessel_hull', 'stage.stage_0'],
      ['stage.stage_5', 'bridge_vessel_deck', 'stage.stage_0'],
      ['stage.stage_6', 'bridge_vessel_cabin', 'stage.stage_5'],
      ['stage.stage_7', 'bridge_vessel_step', 'stage.stage_0'],
    ])
    expect(root).toBe(tables[0])
    expect(root.lists.map(({ column, child }) => [column, child.table.name])).toEqual(
      tables
        .filter(one => one.origin?.parent === root)
        .map((one, index) => [`list_${index}`, one.table.name]),
    )
    expect(documents).toEqual([{ name: 'document_0', path: 'spec', isRestricted: false }])
    expect(stagePlan(boxes).documents).toEqual([{ name: 'document_0', path: 'contents', isRestricted: true }])
  })

  const of = (columns: Parameters<typeof fact>[2]) =>
    isWhollyTyped(
      stagePlan(
        resource({
          name: 'x',
          entity: 'x',
          description: '',
          path: '/',
          read: { strategy: 'byId' },
          table: fact('x', '', { x_id: id('id', ''), ...columns }),
        }),
      ),
    )
  const inner = (columns: Parameters<typeof bridge>[2]) =>
    bridge('y', '', { y_key: keyOf('x_id', 'n'), x_id: ofRoot('x_id'), n: ordinal(), ...columns })

  test.each([
    ['plain columns', () => of({ a: text('a', '') }), true],
    ['a document that no other column reads', () => of({ a: json('a', '') }), true],
    ['a deep document that no other column reads', () => of({ a: json('b.a', '') }), true],
    ['a document of which a column reads a part', () => of({ a: json('a', ''), b: text('a.b', '') }), false],
    ['a figure of a list', () => of({ a: ofList('integer', { take: 'count', of: 'a[]' }, '') }), false],
    ['a row per leaf', () => of({ a: eachLeaf('a', inner({ path: text('path', '') })) }), false],
    ['a list of plain columns', () => of({ a: each('a', inner({ b: text('b', '') })) }), true],
    [
      'a list with a document in parts',
      () => of({ a: each('a', inner({ b: json('b', ''), c: text('b.c', '') })) }),
      false,
    ],
  ])('are read into one type, with %s: %#', (_, isTyped, expected) => expect(isTyped()).toBe(expected))

  test('have the attributes of members beside the columns that refer to them', () => {
    const names = stagedSources(vessels.table).map(([name]) => name)
    expect(names.filter(name => name.startsWith('owner_id'))).toEqual([
      'owner_id',
      memberAttribute('owner_id', 'name'),
    ])
    expect(names.at(-1)).toBe('owner_id__name')
    expect(stagedSources(vessels.table).at(-1)?.[1]).toMatchObject({ type: 'text', privacy: 'personal' })
  })

  test('are refused where derived columns read each other', () => {
    const [stage] = stagePlan(
      resource({
        ...{ name: 'x', entity: 'x', description: '', path: '/', read: { strategy: 'byId' } },
        table: fact('x', '', {
          x_id: id('id', ''),
          a: derived('text', 'b', ''),
          b: derived('text', 'a', ''),
        }),
      }),
    ).tables
    const spelling = {
      element: '',
      hasLong: false,
      document: String,
      scope: String,
      root: String,
      parent: String,
      ordinal: String,
    }
    const parts = { columns: [], from: 'x' }
    expect(() => stageStatement(stage!, spelling, parts)).toThrow(
      'fact_x: derived columns a, b read each other',
    )
  })
})

test.each([
  ['no key', [], 'object'],
  ['keys of objects', ['a', 'b'], 'leaf'],
  ['a key of no object', ['a', 'b', 'c'], undefined],
  ['an unknown key', ['x'], undefined],
  ['a key below an unknown one', ['x', 'b'], undefined],
  ['a key of the elements of a list', ['l', 'b'], undefined],
] as const)('%s: a path leads to what is declared there', (_, path, kind) => {
  const shape = object({ a: object({ b: leaf('text') }), l: list(object({ b: leaf('text') })) })
  expect(nodeAt(shape, path)?.kind).toBe(kind)
})

test('a path is quoted key by key, below an expression or below nothing', () => {
  expect([below('e', ['a', 'b"c']), below('', ['a']), below('e', [])]).toEqual(['e."a"."b""c"', '"a"', 'e'])
  expect(jsonPath('a.b')).toBe('$."a"."b"')
})

describe('pages', () => {
  const page = (parts: Partial<PageFile> = {}): PageFile => ({
    file: '/p.json',
    bytes: 1,
    fetchedAt: '',
    runId: '',
    scope: {},
    ...parts,
  })
  const typed = (pages: readonly PageFile[]) => typedReader({ pages, rows: 'data', hasLong: false })

  test.each([
    [[16_776_192], 16_777_216],
    [[16_776_193], 16_777_217],
    [[1, 20_000_000, 2], 20_001_024],
  ])('of %j bytes take a buffer of %i', (sizes, buffer) => {
    expect(typed(sizes.map(bytes => page({ bytes }))).records('X')).toContain(
      `maximum_object_size = ${buffer})`,
    )
    expect(readLines('/l', { a: 'X' }, Math.max(...sizes))).toContain(`maximum_object_size = ${buffer})`)
  })

  test.each([
    [[true, true], 'newline_delimited'],
    [[true, false], 'unstructured'],
    [[undefined], 'unstructured'],
  ])('that are single lines, %j, are read as %s', (lines, format) => {
    const pages = lines.map(isLine => page(isLine === undefined ? {} : { isLine }))
    expect(typed(pages).records('X')).toContain(`format = '${format}'`)
  })

  test('that are joined are read from one file, by the number in each line', () => {
    const sql = typed([page({ joined: '/joined' }), page({ joined: '/joined' })]).records('X')
    expect(sql).toContain(`"#page" as page`)
    expect(sql).toContain(`read_json('/joined', columns = {data: 'X[]', "#page": 'BIGINT'}`)
  })

  test('have a value each, by their number, and null where a page has none', () => {
    const pages = [page({ pass: 0, runId: 'a' }), page({ runId: "b'c" })]
    expect(perPageNumber(pages, one => one.pass, 'n')).toBe('cast([0, null] as bigint[])[n]')
    expect([perPage(pages, one => one.runId), perPage(pages, one => one.runId, 'n')]).toEqual([
      `['a', 'b''c'][page]`,
      `['a', 'b''c'][n]`,
    ])
  })
})
