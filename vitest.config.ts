import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/**/*.long.test.ts'],
    globalSetup: ['test/postgres/server.ts'],
    pool: 'forks',
    // Tests wait for sockets and servers as much as they compute: two at once take 60 s where one takes 82.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
