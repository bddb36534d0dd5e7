import { defineConfig } from 'vitest/config'

/** DAGs in a real Airflow: minutes, and 300 MB for its packages. */
export default defineConfig({
  test: {
    include: ['test/airflow/*.test.ts'],
    setupFiles: ['test/every-file.ts'],
    globalSetup: ['test/scratch.ts', 'test/postgres/server.ts'],
    pool: 'forks',
    fileParallelism: false,
    // A scheduler, its server and a night on two cores: what fails once for want of time passes then.
    retry: 1,
    // Long enough for a slow machine: a night is a minute of work, and a failure ends it by itself.
    testTimeout: 2_400_000,
    hookTimeout: 2_400_000,
  },
})
