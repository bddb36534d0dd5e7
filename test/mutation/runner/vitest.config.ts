import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/mutation/runner/every-rule.ts'],
    runner: 'test/mutation/runner/in-vitest.ts',
    pool: 'threads',
    isolate: false,
    maxWorkers: 1,
    testTimeout: 2_000,
    hookTimeout: 60_000,
  },
})
