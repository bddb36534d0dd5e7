import type { Known } from '../known.ts'

const file = 'src/sync/snapshot/snapshot-scan.ts'
const entries = 'const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))'

export const known: Known = {
  stories: [],
  slips: [],
  equivalents: [
    {
      file,
      line: entries,
      replacement: 'a <= b',
      reason: 'No two keys of an object are the same.',
    },
    {
      file,
      line: entries,
      replacement: 'a >= b',
      reason: 'Names of rows are only compared with each other: any one order of keys will do.',
    },
    {
      file,
      line: 'reading: ScopeReading = { pages: [], total: 0, hidden: 0, isProved: false }',
      reason: 'A scan that is accepted has set its reading; of another nobody reads it.',
    },
    {
      file,
      line: 'figures = { seen: 0, expected: 0 }',
      reason: 'A scan is only refused after it has set its figures; of another nobody reads them.',
    },
    {
      file,
      line: 'const fetchedAt = pages.at(-1)?.landed.fetchedAt ?? now(sync)',
      replacement: 'pages.at(-1).landed',
      reason: 'A pass has at least one page when its pages are put together.',
    },
  ],
}
