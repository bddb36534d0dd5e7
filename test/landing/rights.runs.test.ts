/** Landed files that this user may not read, as after a run of another user: named, and no reason to leave the others. */
import { chmodSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { thorough } from '../support/long-suite.ts'
import { musterOfUser, skipped } from '../support/ordinary-user.ts'
import { openPlace } from '../support/synced-warehouse.ts'

test.skipIf(skipped !== '')(
  `a page, an archive or a manifest that may not be read is named by check and replay${skipped}`,
  async () => {
    const place = await openPlace()
    for (const words of ['sync --quiet', 'sync sites --quiet', 'sync --quiet'])
      expect((await place.command(words)).code).toBe(0)
    const landing = join(place.cwd, 'w.landing')
    const of = (folder: string): string =>
      readdirSync(join(landing, folder)).find(name => name.endsWith('-sites')) ?? 'none'
    const [scan, archive] = [of('pages'), of('archives')]
    const [page = ''] = readdirSync(join(landing, 'pages', scan))
    const [packed = ''] = readdirSync(join(landing, 'archives', archive))
    const env = {
      MUSTER_BASE_URL: place.sandbox.url,
      MUSTER_API_KEY: sandboxKeys.company,
      MUSTER_WAREHOUSE: 'duckdb:w.duckdb',
    }
    const closed: readonly (readonly [string, string, number])[] = [
      [`pages/${scan}/${page}`, `${scan}: ${page}`, 0o600],
      [`manifests/${scan}.json`, `${scan}: ${scan}.json`, 0o600],
      [`pages/${scan}`, `${scan}: ${page}`, 0o700],
      [`archives/${archive}/${packed}`, `${archive}: ${packed}`, 0o600],
      [`archives/${archive}`, `${archive}: ${packed}`, 0o700],
      ['manifests', 'landing: manifests', 0o700],
    ]
    for (const [index, [name, says, mode]] of closed.entries()) {
      chmodSync(join(landing, name), 0)
      const isReplayed = thorough || [0, 4].includes(index)
      for (const words of ['check landed_pages_readable', ...(isReplayed ? ['replay --quiet'] : [])]) {
        const { code, out, err } = musterOfUser(words, { cwd: place.cwd, env })
        expect([words, name, code]).toEqual([words, name, 3])
        expect(out + err).toMatch(new RegExp(`${says}.* cannot be read: permission denied`))
      }
      chmodSync(join(landing, name), mode)
    }
    expect(musterOfUser('replay --quiet', { cwd: place.cwd, env }).code).toBe(0)
  },
  300_000,
)
