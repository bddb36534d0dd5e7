import { defineConfig } from 'vitest/config'

/** Proofs that take minutes: random kills, hundreds of live seeds; and all cases on every engine, of which the quick suite takes some. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/{airflow,bucket}/**'],
    env: { MUSTER_TEST_EVERYWHERE: '1' },
    setupFiles: ['test/every-file.ts'],
    globalSetup: ['test/scratch.ts', 'test/postgres/server.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 3_600_000,
  },
})
