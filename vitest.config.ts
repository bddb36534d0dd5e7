import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/**/*.long.test.ts'],
    globalSetup: ['test/postgres/server.ts'],
    pool: 'forks',
    testTimeout: 30_000,
  },
})
