import type { Known } from '../known.ts'

/** Transactions, locks and files that processes share. */
export const known: Known = {
  stories: [],
  slips: [
    {
      file: 'src/warehouse/turns.ts',
      before: 'await rollback().catch(() => undefined)',
      after: 'await commit().catch(() => undefined)',
      test: 'test/warehouse/turns.test.ts',
      harm: 'What a failed transaction wrote stays.',
    },
    {
      file: 'src/sync/run/task-pipeline.ts',
      before: '      await renewLease(connection, lease)\n      // A process',
      after: '      // A process',
      test: 'test/sync/run/task-pipeline.rules.test.ts',
      harm: 'A sync that lost its lease merges after another has taken over.',
    },
    {
      file: 'src/marts/rebuild.ts',
      before: '    await renewLease(engine, lease)\n    return { rows',
      after: '    return { rows',
      test: 'test/marts/interrupted-build.test.ts',
      harm: 'A build that lost its lease replaces the marts of another.',
    },
    {
      file: 'src/warehouse/postgres/open.ts',
      before: "skipLocked: 'for update skip locked'",
      after: "skipLocked: ''",
      test: 'test/warehouse/postgres/shared-inbox.test.ts',
      harm: 'Two processes handle the same event.',
    },
    {
      file: 'src/lake/store.ts',
      before: 'linkSync(draft, prepared(key))',
      after: 'await rename(draft, prepared(key))',
      test: 'test/lake/store.rules.test.ts',
      harm: 'A commit of one writer replaces that of another.',
    },
    {
      file: 'src/app/workers/run-workers.ts',
      before: 'linkSync(own, lock)',
      after: 'writeFileSync(lock, holder)',
      test: 'test/cli/workers.test.ts',
      harm: 'Two processes start the workers.',
    },
    {
      file: 'src/state/privacy.ts',
      before: "if (engine.isShared) await engine.run('lock table ops.forgotten in access share mode')",
      after: '',
      test: 'test/warehouse/postgres/locks.test.ts',
      harm: 'An export holds a person who was erased while it ran.',
    },
  ],
  equivalents: [],
}
