/** Folders of landed pages. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openLanding } from '../../src/landing/landing.ts'

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
  const landing = openLanding(root)
  await landing.begin('scan', facts)
  spoil(root)
  const says = new RegExp(`^pages cannot be written \\(${root}\\): check that the folder exists`)
  await expect(landing.land('scan', page)).rejects.toThrow(says)
  if (existsSync(root)) await expect(landing.begin('another', facts)).rejects.toThrow(says)
})
