/** A whole `muster sync` by the command line whose server vanishes in the middle: it ends within two minutes, with one line. */
import { expect, onTestFinished, test } from 'vitest'
import { sandboxKeys } from '../../../src/sandbox/keys/default-keys.ts'
import { openSandbox } from '../../sandbox/open-sandbox.ts'
import { start } from '../../support/built-program.ts'
import { temporaryFolder } from '../../support/captured-world.ts'
import { database } from '../../support/postgres-database.ts'
import { CuttingProxy } from './cutting-proxy.ts'

interface Case {
  readonly cut: 'vanish' | 'forget'
  /** The first request for this path is the moment. */
  readonly at: RegExp
}

/** How a sync ends whose server vanishes at that moment, and how many seconds later. */
async function ending({ cut, at }: Case) {
  const made = await database()
  const proxy = await CuttingProxy.before(made.url)
  let since = 0
  const sandbox = await openSandbox({
    scale: 0.02,
    rateLimitPerDay: 1_000_000,
    onRequest: ({ path }) => {
      if (since > 0 || !at.test(path)) return
      since = performance.now()
      proxy[cut]()
    },
  })
  onTestFinished(async () => {
    await proxy.close()
    await made.drop()
  })
  const env = {
    MUSTER_BASE_URL: sandbox.url,
    MUSTER_API_KEY: sandboxKeys.company,
    MUSTER_WAREHOUSE: proxy.url,
  }
  const { code, err } = await start('sync --quiet', { cwd: temporaryFolder(), env }).ended
  return { code, err, seconds: since > 0 && (performance.now() - since) / 1000 }
}

const cases: readonly Case[] = [
  { cut: 'vanish', at: /^\/timesheets$/ },
  { cut: 'vanish', at: /^\/\w[\w-]*\/\d+/ },
  { cut: 'forget', at: /^\/timesheets$/ },
]

test('a server that vanishes in the middle of a sync ends it within two minutes', async () => {
  for (const { seconds, ...end } of await Promise.all(cases.map(ending))) {
    expect(end).toEqual({
      code: 1,
      err: expect.stringMatching(
        /^muster: [^\n]*(the server has stopped answering|the host does not answer)[^\n]*run again[^\n]*\n$/,
      ),
    })
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThan(120)
  }
}, 240_000)
