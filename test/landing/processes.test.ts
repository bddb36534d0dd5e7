/** A landing that several processes write, or that one was killed in. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { archive } from '../../src/landing/archive.ts'
import { type LandedPage, openLanding } from '../../src/landing/landing.ts'
import { archiveName } from '../../src/landing/layout.ts'
import { rewriteLanding } from '../../src/landing/rewrite.ts'
import { verifyScan } from '../../src/landing/verify.ts'

const folder = mkdtempSync(join(tmpdir(), 'muster-landing-'))

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const facts = { resource: 'sites', scope: {} }
const scan = '20261103T020000000Z-aaaa-0001-sites'
const body = '{"success":true,"data":[{"id":"a","name":"Ada"}],"meta":{"page":1,"limit":200,"total":1}}'
const page = (sequence: number) => ({
  ...{ sequence, page: sequence, fetchedAt: '2026-11-03T02:00:00.000Z', runId: 'r' },
  bytes: Buffer.from(body),
})
const open = (root = mkdtempSync(join(folder, 'landing-'))) => ({ root, landing: openLanding(root) })

async function begun(): Promise<{
  root: string
  landing: ReturnType<typeof openLanding>
  pages: LandedPage[]
}> {
  const { root, landing } = open()
  await landing.begin(scan, facts)
  const pages = [await landing.land(scan, page(1)), await landing.land(scan, page(2))]
  return { root, landing, pages }
}

const damaged = async (root: string) => (await verifyScan(openLanding(root).store, scan))?.damaged

test('a page that is loaded is missed when it is lost, though its process was killed', async () => {
  const { root, landing, pages } = await begun()
  rmSync((pages[1] as LandedPage).file)
  expect(await damaged(root)).toEqual([])
  await landing.noteLoaded([pages[0] as LandedPage])
  expect(await damaged(root)).toEqual([])
  rmSync((pages[0] as LandedPage).file)
  expect(await damaged(root)).toHaveLength(1)
})

test('a resumed scan still reports the loss of a page that was loaded before', async () => {
  const { root, landing, pages } = await begun()
  await landing.noteLoaded(pages)
  rmSync((pages[0] as LandedPage).file)
  const next = openLanding(root)
  await next.begin(scan, facts)
  expect(await damaged(root)).toHaveLength(1)
  await next.complete([scan])
  expect(await damaged(root)).toHaveLength(1)
})

test('the end of a run leaves the manifest of a scan that another process has archived', async () => {
  const { root, landing } = await begun()
  const other = openLanding(root)
  await other.begin(scan, facts)
  await other.complete([scan])
  await archive(other, [scan])
  await landing.complete([scan])
  expect(await damaged(root)).toEqual([])
  expect((await verifyScan(other.store, scan))?.files).toHaveLength(1)
})

test('the end of a run names the pages that were rewritten meanwhile', async () => {
  const { root, landing } = await begun()
  const scrub = (bytes: Buffer): Buffer =>
    bytes.includes('Ada') ? Buffer.from(bytes.toString().replace('Ada', '')) : bytes
  const { pages } = await rewriteLanding(openLanding(root), {
    ...{ scrub, isDry: false, signal: new AbortController().signal },
  })
  expect(pages).toBe(2)
  await landing.complete([scan])
  expect(await damaged(root)).toEqual([])
})

test('forgetting removes the draft of an archive that a killed process left in an open scan', async () => {
  const { root } = await begun()
  const content = Buffer.from('Ada')
  const other = openLanding(root)
  await other.store.put(`archives/${scan}/${archiveName(1, content)}`, content)
  await rewriteLanding(other, {
    ...{ scrub: (bytes: Buffer) => bytes, isDry: false, signal: new AbortController().signal },
  })
  expect(readdirSync(join(root, 'archives'))).toEqual([])
})

test('a manifest is put in the place of the one that was read, and of no other', async () => {
  const { root, landing } = await begun()
  const key = `manifests/${scan}.json`
  const over = await landing.store.get(key)
  const file = join(root, key)
  writeFileSync(file, 'another')
  expect(await landing.store.put(key, Buffer.from('mine'), { over })).toBe(false)
  expect(readFileSync(file, 'utf8')).toBe('another')
  expect(readdirSync(dirname(file))).toEqual([`${scan}.json`])
})

test('a page that is dropped after it was noted is not missed', async () => {
  const { root, landing, pages } = await begun()
  await landing.noteLoaded(pages)
  await landing.forget(pages[1] as LandedPage)
  expect(await damaged(root)).toEqual([])
  await landing.complete([scan])
  expect(await damaged(root)).toEqual([])
})

test('a scan that is begun again after it was complete keeps its archive', async () => {
  const { root, landing } = await begun()
  await landing.complete([scan])
  await archive(landing, [scan])
  const next = openLanding(root)
  await next.begin(scan, facts)
  await next.land(scan, page(3))
  await next.complete([scan])
  await archive(next, [scan])
  expect(await damaged(root)).toEqual([])
  expect((await verifyScan(next.store, scan))?.files.map(({ name }) => name.slice(-8))).toContain('.parquet')
})

test('a page that is cut after it was noted keeps the size that it had', async () => {
  const { root, landing, pages } = await begun()
  await landing.noteLoaded(pages)
  writeFileSync((pages[0] as LandedPage).file, 'cut')
  await landing.complete([scan])
  const { files } = JSON.parse(readFileSync(join(root, `manifests/${scan}.json`), 'utf8'))
  expect(files.map(({ bytes }: { bytes: number }) => bytes)).toEqual([body.length, body.length])
})

test('a manifest that is damaged ends no run: the other scans are complete', async () => {
  const { root, landing } = await begun()
  const other = scan.replace('aaaa', 'bbbb')
  await landing.begin(other, facts)
  writeFileSync(join(root, `manifests/${scan}.json`), '{')
  await landing.complete([scan, other])
  expect(readFileSync(join(root, `manifests/${other}.json`), 'utf8')).toContain('"complete"')
})
