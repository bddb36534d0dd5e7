import { defineConfig } from 'vitest/config'

/** Landed pages in a bucket, on moto's S3 server from PyPI: 100 MB and a minute to install. */
export default defineConfig({
  test: {
    include: ['test/bucket/*.test.ts'],
    setupFiles: ['test/every-file.ts'],
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
    globalSetup: ['test/scratch.ts', 'test/postgres/server.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
