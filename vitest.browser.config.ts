import { defineConfig } from 'vitest/config'

/** Pages in a real Chromium; `npm run test:browser`. */
export default defineConfig({
  test: {
    include: ['test/browser/*.browser.ts'],
    setupFiles: ['test/every-file.ts'],
    globalSetup: ['test/scratch.ts', 'test/postgres/server.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 120_000,
    hookTimeout: 240_000,
  },
})
