/** Folders of landed pages, whichever release wrote them. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { compact, keptScans, unpack } from '../../src/landing/archive.ts'
import { openLanding } from '../../src/landing/folder.ts'
import { packing } from '../../src/landing/packed-pages.ts'

const folder = mkdtempSync(join(tmpdir(), 'muster-landing-'))

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const facts = { resource: 'sites', scope: {} }
const page = {
  sequence: 1,
  page: 1,
  fetchedAt: '2026-11-03T02:00:00.000Z',
  runId: 'r',
  bytes: Buffer.from('{"data":[]}'),
}

test('pages that an earlier release landed are read, archived and unpacked', async () => {
  const root = join(folder, 'a.landing')
  const landing = await openLanding(root)
  await landing.begin('scan', facts)
  await landing.land('scan', page)
  const journals = [join('scan', 'pages.jsonl'), 'scans.jsonl', join('scan.archive', 'manifest.json')]
  // Earlier releases wrote none.
  const forget = () => {
    for (const name of journals) rmSync(join(root, name), { force: true })
  }
  forget()
  renameSync(join(root, 'scan', 'scan.json'), join(root, 'scan', 'walk.json'))
  expect(await landing.scans()).toEqual(['scan'])
  expect(await landing.facts('scan')).toEqual({ scan: 'scan', ...facts })
  await compact(landing, ['scan'])
  const archive = join(root, 'scan.archive')
  forget()
  renameSync(join(archive, 'scan.json'), join(archive, 'walk.json'))
  expect(await keptScans(landing)).toEqual(['scan'])
  const unpacked = join(folder, 'unpacked')
  mkdirSync(unpacked)
  await packing(undefined, pack => unpack(landing, 'scan', { folder: unpacked, pack }))
  const read = await openLanding(unpacked)
  const pages = await read.pages('scan')
  expect([await read.facts('scan'), pages.length]).toEqual([{ scan: 'scan', ...facts }, 1])
  expect(readFileSync(pages[0]!.file, 'utf8')).toBe('{"data":[]}')
})

const gone: readonly (readonly [string, (root: string) => void])[] = [
  ['is removed', root => rmSync(root, { recursive: true })],
  [
    'becomes a file',
    root => {
      rmSync(root, { recursive: true })
      writeFileSync(root, '')
    },
  ],
]

test.each(gone)('a landing that %s while it is written is one line', async (_, spoil) => {
  const root = join(mkdtempSync(join(folder, 'spoilt-')), 'landing')
  const landing = await openLanding(root)
  await landing.begin('scan', facts)
  spoil(root)
  const says = new RegExp(`^pages cannot be written \\(${root}\\): check that the folder is there`)
  await expect(landing.land('scan', page)).rejects.toThrow(says)
  if (existsSync(root)) await expect(landing.begin('another', facts)).rejects.toThrow(says)
})
