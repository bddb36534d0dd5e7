import type { Known } from '../known.ts'

export const known: Known = {
  stories: [],
  slips: [
    {
      file: 'src/sync/run/renew-lease.ts',
      before: '    await renewLease(engine, lease)\n    return result',
      after: '    return result',
      test: 'test/sync/run/renew-lease.rules.test.ts',
      harm: 'A process that lost its lease goes on writing.',
    },
  ],
  equivalents: [],
}
