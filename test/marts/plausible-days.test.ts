/** The check of plausible dates covers every day that Muster counts. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { countedDays } from '../../src/state/reporting-zone.ts'

test('the check of plausible dates looks at every counted day', () => {
  const text = readFileSync(new URL('../../sql/check/dates_plausible.sql', import.meta.url), 'utf8')
  const missing = [...countedDays].flatMap(([table, days]) =>
    days
      .filter(
        ([day, { at }]) =>
          !new RegExp(
            `from star\\.${table} as (\\w+)\n.*\\1\\.${at} is not null and \\1\\.${day} is null`,
          ).test(text),
      )
      .map(([day]) => `${table}.${day}`),
  )
  expect(missing).toEqual([])
})
