/** Archives as a replay reads them: all pages of one in one file, whatever they look like. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { replay } from '../../src/app/rebuild/replay.ts'
import { archiveOf, compact } from '../../src/landing/archive.ts'
import { type Landing, openLanding } from '../../src/landing/folder.ts'
import { packing } from '../../src/landing/packed-pages.ts'
import { unpackInto } from '../../src/landing/unpacked.ts'
import { usualLimits } from '../../src/load/page/record-limits.ts'
import { tables } from '../warehouse/dump.ts'
import { describeOnEngines } from '../warehouse/fixture.ts'

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
      const { damaged, ...result } = await replay(engine, { root, limits: usualLimits }, () => undefined)
      expect(damaged).toEqual([])
      return { result, rows: await tables(engine) }
    }
    const ofFiles = await replayed()
    expect(ofFiles.result).toMatchObject({ scans: 1, pages: pages.length, records: 4 })
    await compact(landing, ['scan'])
    expect(await replayed()).toEqual(ofFiles)
    expect(readdirSync(join(root, '..'))).toEqual(['a.landing'])
  })
})

test('without a manifest, a page that is cut off or no envelope is named, and the others are loaded', async () => {
  const root = join(mkdtempSync(join(folder, 'landing-')), 'a.landing')
  const landing = openLanding(root)
  await landed(landing, [page(site(1)), '{"data":[{"id":"s2"', '{"other":[]}', page(site(4))])
  // As an earlier release would have archived them.
  for (const journal of [join('scan', 'pages.jsonl'), 'scans.jsonl']) rmSync(join(root, journal))
  await packing(async pack => {
    const archive = join(root, archiveOf('scan'))
    mkdirSync(archive)
    writeFileSync(join(archive, 'scan.json'), JSON.stringify(await landing.facts('scan')))
    await pack.write(await landing.pages('scan'), archive, '')
    const file = join(folder, 'unpacked')
    const { pages, damaged } = await unpackInto(landing, 'scan', { file, pack })
    expect(pages.map(one => one.sequence)).toEqual([1, 4])
    expect(damaged).toEqual([
      expect.stringMatching(/^000002_.* breaks off$/),
      expect.stringMatching(/^000003_.* cannot be read$/),
    ])
  })
})
