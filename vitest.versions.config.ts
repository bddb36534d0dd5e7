import { defineConfig, mergeConfig } from 'vitest/config'
import quick from './vitest.config.ts'

/** Quick tests and whole runs alike, against the server that is named; `npm run test:postgres-versions`. */
export default mergeConfig(
  { ...quick, test: { ...quick.test, include: undefined, exclude: undefined } },
  defineConfig({
    test: {
      include: ['test/**/*.test.ts'],
      exclude: ['test/**/*.long.test.ts', 'test/{airflow,bucket}/**'],
      testTimeout: 600_000,
      hookTimeout: 600_000,
    },
  }),
)
