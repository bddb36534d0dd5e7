/** What a load of many rows takes of memory does not grow with them. */
import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

/** Without attaching anew it grew by 34 MB over 600,000 rows, 5 MB for each 100,000. */
const maxGrowth = 10

test('800,000 rows of 300 columns leave a process as large as 200,000 do', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'muster-flat-')), 'flat.duckdb')
  const script = fileURLToPath(new URL('flat-memory.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', script, file])
  const megabytes = stdout.trim().split('\n').map(Number)
  expect(megabytes).toHaveLength(8)
  const [early, late] = [megabytes.slice(0, 2), megabytes.slice(-2)].map(some => Math.max(...some))
  expect(late).toBeLessThanOrEqual((early ?? 0) + maxGrowth)
})
