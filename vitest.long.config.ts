import { defineConfig } from 'vitest/config'

/** Proofs that take minutes: random kills, hundreds of live seeds, a million rows. */
export default defineConfig({
  test: {
    include: ['test/**/*.long.test.ts'],
    globalSetup: ['test/postgres/server.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 3_600_000,
  },
})
