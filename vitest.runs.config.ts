import { defineConfig, mergeConfig } from 'vitest/config'
import quick, { wholeRuns } from './vitest.config.ts'

/** Runs that are stopped, killed or refused, nights with a service that lies, odd records, and crosschecks: minutes. */
export default mergeConfig(
  { ...quick, test: { ...quick.test, include: undefined, exclude: undefined } },
  defineConfig({ test: { include: [...wholeRuns], exclude: ['test/**/*.long.test.ts'] } }),
)
