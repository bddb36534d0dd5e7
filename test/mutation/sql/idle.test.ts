import { expect, test } from 'vitest'
import { altered, mutantsOf } from './mutants.ts'

const made = (sql: string): string[] => mutantsOf(sql).map(mutant => altered(sql, mutant))

/** Each with a neighbour that asks the same of something else. */
const kinds = [
  [
    'turn an inner join into a left one if the where needs its columns',
    [
      'select a.x from a inner join b on b.y = a.y where a.z and not b.is_deleted',
      'select a.x from a left join b on b.y = a.y where a.z and not b.is_deleted',
    ],
    [
      'select a.x from a inner join b on b.y = a.y where a.z and (not b.is_deleted or a.z)',
      'select a.x from a left join b on b.y = a.y where a.z and (not b.is_deleted or a.z)',
    ],
  ],
  [
    'turn an inner join into a left one if a later inner join needs its columns',
    [
      'select a.x from a inner join (select y from b) as c on c.y = a.y inner join d on d.z = c.z',
      'select a.x from a left join (select y from b) as c on c.y = a.y inner join d on d.z = c.z',
    ],
    [
      'select a.x from a inner join (select y from b) as c on c.y = a.y left join d on d.z = c.z',
      'select a.x from a left join (select y from b) as c on c.y = a.y left join d on d.z = c.z',
    ],
  ],
  [
    'turn an inner join into a left one if the where needs a value above a limit',
    [
      'select a.x from a inner join b on b.y = a.y where b.z > 0',
      'select a.x from a left join b on b.y = a.y where b.z > 0',
    ],
    [
      'select a.x from a inner join b on b.y = a.y where coalesce(b.z, 1) > 0',
      'select a.x from a left join b on b.y = a.y where coalesce(b.z, 1) > 0',
    ],
  ],
  [
    'drop `is not null` beside a comparison of the same column',
    ['select x from a where a.x is not null and a.x > 0', 'select x from a where a.x > 0'],
    ['select x from a where a.x is not null and (a.x > 0 or a.y)', 'select x from a where (a.x > 0 or a.y)'],
  ],
  [
    'drop `is not null` inside of an or',
    ['select x from a where y or (x is not null and x > 0)', 'select x from a where y or (x > 0)'],
    ['select x from a where y or not (x is not null and x > 0)', 'select x from a where y or not (x > 0)'],
  ],
  [
    'drop a coalesce whose fallback is below the limit',
    ['select case when coalesce(x, 0) > 0 then y end', 'select case when (x) > 0 then y end'],
    ['select case when coalesce(x, 1) > 0 then y end', 'select case when (x) > 0 then y end'],
  ],
  [
    'drop a coalesce whose fallback makes the condition false',
    [
      'select x from a where coalesce(y, false) and not coalesce(z, true)',
      'select x from a where coalesce(y, false) and not (z)',
    ],
    [
      'select x from a where coalesce(y, false) and not coalesce(z, false)',
      'select x from a where coalesce(y, false) and not (z)',
    ],
  ],
  [
    'drop a coalesce whose fallback is another word than the one asked for',
    [`select x from a where coalesce(y, '') = 'b'`, `select x from a where (y) = 'b'`],
    [`select coalesce(y, '') = 'b' as z from a`, `select (y) = 'b' as z from a`],
  ],
  [
    'raise a fallback that is above the limit already',
    ['select coalesce(x, y, 1) > 0', 'select coalesce(x, y, 2) > 0'],
    ['select coalesce(x, y, 1) > 1', 'select coalesce(x, y, 2) > 1'],
  ],
  [
    'take the other of two equal values',
    ['select case when a.x < a.y then a.y else a.x end', 'select case when a.x <= a.y then a.y else a.x end'],
    ['select case when a.x < a.y then a.z else a.x end', 'select case when a.x <= a.y then a.z else a.x end'],
  ],
  [
    'sort the values of a median the other way',
    [
      'select percentile_cont(0.5) within group (order by a.x) from a',
      'select percentile_cont(0.5) within group (order by a.x desc) from a',
    ],
    [
      'select percentile_cont(0.25) within group (order by a.x) from a',
      'select percentile_cont(0.25) within group (order by a.x desc) from a',
    ],
  ],
  [
    'drop the all of a union behind an `in`',
    [
      'select x from c where x in (select x from a union all select x from b)',
      'select x from c where x in (select x from a union select x from b)',
    ],
    [
      'select x from c cross join (select x from a union all select x from b) as d',
      'select x from c cross join (select x from a union select x from b) as d',
    ],
  ],
  [
    'drop the all of a union of which only the greatest value is taken',
    [
      'select d.y, max(d.x) from (select x, y from a union all select x, y from b) as d group by d.y',
      'select d.y, max(d.x) from (select x, y from a union select x, y from b) as d group by d.y',
    ],
    [
      'select d.y, max(d.x), count(*) from (select x, y from a union all select x, y from b) as d group by d.y',
      'select d.y, max(d.x), count(*) from (select x, y from a union select x, y from b) as d group by d.y',
    ],
  ],
] as const

test.each(kinds)('does not %s', (_, [sql, idle], [neighbour, effective]) => {
  expect(made(sql)).not.toContain(idle)
  expect(made(neighbour)).toContain(effective)
})

test('alters a condition that a value of TypeScript or of a resource may be part of', () => {
  expect(made('select x from a where x is not null and x > 0 zq0q')).toContain(
    'select x from a where x > 0 zq0q',
  )
  expect(made('select x from a where x is not null and x > 0 {more}')).toContain(
    'select x from a where x > 0 {more}',
  )
})
