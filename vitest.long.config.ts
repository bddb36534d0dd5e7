import { defineConfig } from 'vitest/config'

/** Proofs that take minutes: random kills, hundreds of live seeds; and on every engine what the quick suite shows on one. */
export default defineConfig({
  test: {
    include: [
      'test/**/*.long.test.ts',
      'test/sync/*.test.ts',
      'test/serve/*.test.ts',
      'test/warehouse/bad-input.test.ts',
      'test/marts/interrupted-build.test.ts',
    ],
    env: { MUSTER_TEST_EVERYWHERE: '1' },
    globalSetup: ['test/scratch.ts', 'test/postgres/server.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 3_600_000,
  },
})
