import { defineConfig } from 'vitest/config'

/** DAGs in a real Airflow: minutes, and 300 MB for its packages. */
export default defineConfig({
  test: {
    include: ['test/airflow/*.test.ts'],
    setupFiles: ['test/every-file.ts'],
    globalSetup: ['test/scratch.ts', 'test/postgres/server.ts'],
    pool: 'forks',
    testTimeout: 120_000,
    hookTimeout: 900_000,
  },
})
