import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/mutation/sql/sql.mutate.ts'],
    globalSetup: ['test/support/scratch-folder.ts'],
    setupFiles: ['test/support/every-file.ts'],
    pool: 'forks',
    testTimeout: 3_600_000,
    hookTimeout: 120_000,
  },
})
