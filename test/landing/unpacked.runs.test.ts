/** Archives as a replay reads them: all pages of one in one file, whatever they look like. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { replay } from '../../src/app/rebuild/replay.ts'
import { archive } from '../../src/landing/archive.ts'
import { type Landing, openLanding } from '../../src/landing/landing.ts'
import { defaultLimits } from '../../src/load/page/record-limits.ts'
import { tables } from '../support/warehouse-dump.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'muster-unpacked-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const site = (number: number, more: object = {}) => ({ id: `s${number}`, name: `Site ${number}`, ...more })
const page = (...sites: object[]): string => JSON.stringify({ data: sites })

/** Small pages share one file in the stage, unless one of them has several lines; a large one has its own. */
const kinds: readonly (readonly [string, readonly string[]])[] = [
  ['small pages', [page(site(1)), page(site(2), site(3)), `${page(site(4))}\n`]],
  [
    'one page of several lines between small ones',
    [page(site(1)), JSON.stringify({ data: [site(2)] }, null, 2), page(site(3)), page(site(4))],
  ],
  [
    'a large page after a small one',
    [page(site(1)), page(site(2, { name: 'x'.repeat(70_000) }), site(3)), page(site(4))],
  ],
  [
    'texts that no engine stores',
    [page(site(1)), page(site(2), { ...site(3), name: 'a\u0000b' }), page(site(4))],
  ],
]

async function landed(landing: Landing, pages: readonly string[]): Promise<void> {
  await landing.begin('scan', { resource: 'sites', scope: {} })
  for (const [index, text] of pages.entries())
    await landing.land('scan', {
      sequence: index + 1,
      page: index + 1,
      fetchedAt: `2026-11-03T02:00:0${index}.000Z`,
      runId: 'r',
      bytes: Buffer.from(text),
    })
}

describeOnEngines('a replay of an archive', bench => {
  test.each(kinds)('gives the rows of the pages as files: %s', async (_, pages) => {
    const root = join(mkdtempSync(join(folder, 'landing-')), 'a.landing')
    const landing = openLanding(root)
    await landed(landing, pages)
    const replayed = async () => {
      const { engine } = await bench.warehouse()
      const { damaged, ...result } = await replay(engine, { root, limits: defaultLimits }, () => undefined)
      expect(damaged).toEqual([])
      return { result, rows: await tables(engine) }
    }
    const ofFiles = await replayed()
    expect(ofFiles.result).toMatchObject({ scans: 1, pages: pages.length, records: 4 })
    await archive(landing, ['scan'])
    expect(readdirSync(join(root, 'archives'))).toEqual(['scan'])
    expect(readdirSync(join(root, 'pages'))).toEqual([])
    expect(await replayed()).toEqual(ofFiles)
    expect(readdirSync(join(root, '..'))).toEqual(['a.landing'])
  })
})
