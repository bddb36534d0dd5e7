import type { Known } from '../known.ts'

export const known: Known = {
  stories: [],
  slips: [
    {
      file: 'src/warehouse/postgres/merge-lock.ts',
      before: 'in exclusive mode',
      after: 'in access share mode',
      test: 'test/warehouse/postgres/locks.test.ts',
      harm: 'Two processes merge at once.',
    },
  ],
  equivalents: [
    {
      file: 'src/load/merge/apply.ts',
      line: 'for (const targets of [owners.slice(0, 1), owners.slice(1)]) {',
      replacement: 'owners',
      reason: 'To look into a table twice finds the same; its own table comes first to spare the others.',
    },
  ],
}
