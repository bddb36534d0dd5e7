import { defineConfig } from 'vitest/config'

/** Workers on several machines: Airflow with CeleryExecutor, which needs redis-server. Some ten minutes. */
export default defineConfig({
  test: {
    include: ['test/airflow/celery/*.test.ts'],
    setupFiles: ['test/every-file.ts'],
    globalSetup: ['test/scratch.ts', 'test/postgres/server.ts'],
    pool: 'forks',
    testTimeout: 3_600_000,
    hookTimeout: 900_000,
  },
})
