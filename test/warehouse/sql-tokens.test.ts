/** Where the texts of SQL end, and which names in it can be calls. */
import { describe, expect, test } from 'vitest'
import { callsIn, hasNumberedName } from '../../src/warehouse/postgres/ad-hoc-judge.ts'
import { statementsIn, tokensOf } from '../../src/warehouse/sql-tokens.ts'

const texts = (sql: string): string[] =>
  [...tokensOf(sql)].filter(({ kind }) => kind === 'text').map(({ text }) => text)

test.each([
  [`select 'a''b', c`, [`'a''b'`]],
  [`select 'a\\', c, 'd'`, [`'a\\'`, `'d'`]],
  [`select E'a\\', c'`, [`E'a\\', c'`.slice(1)]],
  [`select e'a''\\'b', 'c'`, [`'a''\\'b'`, `'c'`]],
  [`select xe'a\\', 'b'`, [`'a\\'`, `'b'`]],
  [`select e 'a\\', 'b'`, [`'a\\'`, `'b'`]],
  [`select E'a'\n 'b\\' , c'`, [`'a'`, `'b\\' , c'`]],
  [`select E'a' -- x\n 'b\\' , c'`, [`'a'`, `'b\\' , c'`]],
  [`select 'a'\n 'b\\' , c`, [`'a'`, `'b\\'`]],
  [`select E'a', 'b\\', c`, [`'a'`, `'b\\'`]],
  [`select U&'a\\', b`, [`'a\\'`]],
  [`select $$ ' $$, $a$ $$ $a$`, [`$$ ' $$`, `$a$ $$ $a$`]],
  [`select a$b$, 'c'`, [`'c'`]],
  [`select $1, $2`, []],
  [`select $\u00e9$ ' $\u00e9$`, [`$\u00e9$ ' $\u00e9$`]],
  [`select "a'b", 'c'`, [`'c'`]],
  [`select 1 -- 'a\n, 'b'`, [`'b'`]],
  [`select /* ' /* ' */ ' */ 'b'`, [`'b'`]],
  [`select 'never ends`, [`'never ends`]],
  [`select E'never ends\\`, [`'never ends\\`]],
])('%s has these texts', (sql, expected) => expect(texts(sql)).toEqual(expected))

test('the tokens joined are the complete SQL', () => {
  for (const sql of [`select E'a\\'b' || "x""y" /* c */ from t;`, `$$`, `"`, `'`, `/*`, '\u00a0$x', `e'\\`])
    expect([...tokensOf(sql)].map(({ text }) => text).join('')).toBe(sql)
})

test.each([
  ['', 0],
  [' ; /* ; */ -- ;', 0],
  ['select 1', 1],
  [`select ';'; ;`, 1],
  [`select E'\\'; select 2`, 1],
  [`select '\\'; select 2`, 2],
])('%j has %i statements', (sql, count) => expect(statementsIn(sql)).toHaveLength(count))

describe('a call is', () => {
  test.each([
    ['select f(1)', ['f']],
    ['select F /* x */ -- y\n (1)', ['f']],
    ['select "f"(1), "G""h"()', ['f', 'g"h']],
    ['select s.f(1)', ['f']],
    ['select 1 + (x).f', ['f']],
    ['select 1 + (x).a.f', ['a', 'f']],
    ['select x[1].f', ['f']],
    ['select 1 + (x) . "f"', ['f']],
    ['select from t tablesample f(10)', ['f']],
  ])('%s', (sql, functions) => expect(callsIn(sql).functions).toEqual(functions))

  test.each([
    `select 'f(1)', 'f', $$ f(1) $$`,
    'select 1 as f',
    'select 1 as "f"',
    'select f from t f',
    'select 1 -- f(1)',
    'select /* f(1) */ 1',
    `select f 'x'`,
    `select E'\\'', 'f(1)'`,
  ])('none in %s', sql => {
    const { functions, ofRows } = callsIn(sql)
    expect([functions, ofRows]).toEqual([[], []])
  })

  test('perhaps one with the row of a table', () => {
    expect(callsIn('select t.f, s.t."G" from s.t where u.h > 1')).toMatchObject({
      functions: [],
      ofRows: ['f', 't', 'g', 'h'],
    })
  })
})

test.each([
  [`select U&"\\0066"(1)`, true],
  [`select u&"f" from t`, true],
  [`select u & "f" from t`, false],
  [`select 'U&"f"' -- U&"f"`, false],
])('%s has a name in numbers: %s', (sql, expected) => expect(hasNumberedName(sql)).toBe(expected))
