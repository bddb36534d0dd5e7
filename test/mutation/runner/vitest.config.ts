import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/mutation/runner/every-rule.ts'],
    runner: 'test/mutation/runner/in-vitest.ts',
    pool: 'threads',
    isolate: false,
    maxWorkers: 1,
    // A machine with other work takes ten times as long: a test that is cut off would count as one that noticed the mutant.
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
})
