import { defineConfig } from 'vitest/config'

/** The tests that pin one rule each: no server, no child process, each file under two seconds. */
export default defineConfig({
  test: {
    include: [`${process.env.MUSTER_RULES ?? 'test'}/**/*.rules.test.ts`],
    setupFiles: ['test/every-file.ts'],
    pool: 'threads',
    isolate: false,
    maxWorkers: 1,
    hookTimeout: 60_000,
  },
})
