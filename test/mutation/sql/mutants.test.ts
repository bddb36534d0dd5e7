import { expect, test } from 'vitest'
import { altered, mutantsOf } from './mutants.ts'
import { alteredTexts } from './texts.ts'

const all = (sql: string): string[] => mutantsOf(sql).map(mutant => altered(sql, mutant))

test.each([
  ['a comparison', 'when a.x < b.y then', ['when true then', 'when a.x <= b.y then']],
  ['a limit', 'select n - 7', ['select n + 7', 'select n - 8']],
  ['the greatest', 'select max(n), t.max', ['select min(n), t.max']],
  ['a join', 'left join b on b.x = a.x', ['inner join b on b.x = a.x']],
  [
    'a second condition of a join',
    'join b on b.x = a.x and b.n > 1',
    [
      'join b on b.n > 1',
      'join b on b.x = a.x ',
      'join b on b.x = a.x and b.n >= 1',
      'join b on b.x = a.x and b.n > 2',
    ],
  ],
  ['what stands for nothing', `select coalesce(a.x, b.y, '')`, ['select (a.x)']],
  ['a deletion', 'where not a.is_deleted', ['where a.is_deleted', 'where true']],
  ['a missing value', 'having x is null', ['having true', 'having x is not null']],
  ['all of a union', 'union all select', ['union select']],
  ['what is counted once', 'count(distinct x)', ['count(x)']],
  ['a filter', 'sum(x) filter (where a.b) as n', ['sum(x) as n']],
  ['an order', 'over (order by a desc, b)', ['over (order by a asc, b)', 'over (order by a desc, b desc)']],
  [
    'the nearer of two words',
    'when a or b and c then',
    [
      'when b and c then',
      'when a and b and c then',
      'when a or c then',
      'when a or b or c then',
      'when a or b then',
    ],
  ],
  ['not the end of a between', 'where x between 1 and y', ['where true', 'where x between 2 and y']],
])('alters %s', (_, sql, mutants) => expect(all(sql)).toEqual(mutants))

test.each([
  ['texts, names and comments', `select 'a < 1' as "max(1)" -- and 2`],
  ['types and places', 'select cast(x as numeric(12, 2)) group by 1, 2'],
  ['a row that is selected to be there', 'exists (select 1 from b)'],
  ['what is counted', `count(case a.b when 'x' then 1 end)`],
  ['a number below nothing', 'select -x, (+x)'],
])('leaves %s alone', (_, sql) => expect(all(sql)).toEqual([]))

test('SQL in TypeScript is altered in one place at a time, and values keep their place', () => {
  const value = '$'.concat('{id}')
  const source = `const q = (id) => \`select a from b where a >= ${value}\`\nconst said = \`nothing of SQL\`\n`
  const { mutants, code } = alteredTexts('a.ts', source)
  expect(mutants.map(({ lineNumber, replacement }) => [lineNumber, replacement])).toEqual([
    [1, 'a >= zq0q -> true'],
    [1, '>= -> >'],
  ])
  expect(code).toContain(
    `isOn__('a.ts:0') ? \`select a from b where true\` : isOn__('a.ts:1') ? \`select a from b where a > ${value}\` : `,
  )
  expect(code).toContain(`reach__(["a.ts:0","a.ts:1"], \`select a from b where a >= ${value}\`))`)
  expect(code).toContain('const said = `nothing of SQL`\n')
})
