import { defineConfig } from 'vitest/config'

const folders = ['crosscheck', 'marts', 'postgres', 'serve', 'sync', 'warehouse']

/** Proofs that take minutes: random kills, hundreds of live seeds; and on every engine what the quick suite shows on one. */
export default defineConfig({
  test: {
    include: ['test/**/*.long.test.ts', ...folders.map(folder => `test/${folder}/*.test.ts`)],
    env: { MUSTER_TEST_EVERYWHERE: '1' },
    setupFiles: ['test/every-file.ts'],
    globalSetup: ['test/scratch.ts', 'test/postgres/server.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 3_600_000,
  },
})
