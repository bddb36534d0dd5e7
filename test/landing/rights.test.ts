/** Landed files that this user may not read, as after a run of another user: named, and no reason to leave the others. */
import { chmodSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { musterOfUser, skipped } from '../cli/ordinary-user.ts'
import { openPlace } from '../cli/synced-warehouse.ts'
import { thorough } from '../thorough.ts'

const isPage = (name: string): boolean => /^0.*json$/.test(name)

test.skipIf(skipped !== '')(
  `a page, an archive or a journal that may not be read is named by check and replay${skipped}`,
  async () => {
    const place = await openPlace()
    for (const words of ['sync --quiet', 'sync sites --quiet', 'sync --quiet'])
      expect((await place.command(words)).code).toBe(0)
    const landing = join(place.cwd, 'w.landing')
    const of = (end: string): string => readdirSync(landing).find(name => name.endsWith(end)) ?? 'none'
    const [scan, archive] = [of('-sites'), of('-sites.archive')]
    const page = readdirSync(join(landing, scan)).find(isPage) ?? ''
    const env = {
      MUSTER_BASE_URL: place.sandbox.url,
      MUSTER_API_KEY: sandboxKeys.company,
      MUSTER_WAREHOUSE: 'duckdb:w.duckdb',
    }
    const closed: readonly (readonly [string, string, number])[] = [
      [`${scan}/${page}`, `${scan}: ${page}`, 0o600],
      [`${scan}/pages.jsonl`, `${scan}: pages.jsonl`, 0o600],
      [`${scan}/scan.json`, `${scan}: scan.json`, 0o600],
      [scan, `${scan}: ${scan}`, 0o700],
      [`${archive}/000001.parquet`, `${archive.replace('.archive', '')}: 000001.parquet`, 0o600],
      [archive, `${archive.replace('.archive', '')}: `, 0o700],
      ['scans.jsonl', 'scans.jsonl: scans.jsonl', 0o600],
    ]
    for (const [index, [name, says, mode]] of closed.entries()) {
      chmodSync(join(landing, name), 0)
      const isReplayed = thorough || [0, 5].includes(index)
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
