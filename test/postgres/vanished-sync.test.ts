/** A whole `muster sync` by the command line whose server vanishes in the middle: it ends within two minutes, with one line. */
import { expect, onTestFinished, test } from 'vitest'
import { start } from '../cli/built.ts'
import { temporaryFolder } from '../cli/captured-world.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { CuttingProxy } from './cutting-proxy.ts'
import { database, onServer } from './database.ts'

test.each(['vanish', 'forget'] as const)('a server that vanishes in the middle of a sync (%s) ends it within two minutes', async cut => {
  const sandbox = await openSandbox({ scale: 0.02, rateLimitPerDay: 1_000_000 })
  const made = await database()
  onTestFinished(() => made.drop())
  const proxy = await CuttingProxy.before(made.url)
  const env = {
    MUSTER_BASE_URL: sandbox.url,
    MUSTER_API_KEY: 'sandbox-company-key',
    MUSTER_WAREHOUSE: proxy.url,
  }
  const sync = start('sync --quiet --json', { cwd: temporaryFolder(), env })
  onTestFinished(() => proxy.close())
  const name = new URL(made.url).pathname.slice(1)
  const count = () => onServer<{ n: number }>('select count(*)::int as n from star.dim_user', name).then(([row]) => row?.n ?? 0, () => 0)
  await expect.poll(count, { timeout: 60_000, interval: 20 }).toBeGreaterThan(0)
  proxy[cut]()
  const started = performance.now()
  const { code, err, out } = await sync.ended
  const seconds = (performance.now() - started) / 1000
  console.log(cut, code, seconds, err, out)
}, 900_000)
