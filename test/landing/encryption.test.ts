/** Encrypted landed pages: nothing in clear, every change of a byte is found, keys change, and a wrong key is one clear line. */
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { compact, encryptArchives, unpack } from '../../src/landing/archive.ts'
import { LandingKeys } from '../../src/landing/encryption.ts'
import { type Landing, openLanding } from '../../src/landing/folder.ts'
import { damageOf } from '../../src/landing/kept.ts'
import { packing } from '../../src/landing/packed-pages.ts'
import { rewriteLanding } from '../../src/landing/rewrite.ts'
import { pageBytes } from '../../src/lib/encryption/stored-page.ts'
import { ConfigError } from '../../src/lib/errors.ts'

const folder = mkdtempSync(join(tmpdir(), 'muster-encrypted-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const newKey = (): string => randomBytes(32).toString('hex')
const chunk = 1_048_576
const signal = new AbortController().signal

test('what was encrypted is decrypted, whatever its size', () => {
  const keys = new LandingKeys(newKey())
  for (const size of [0, 1, 15, 16, 17, chunk - 1, chunk, chunk + 1, 3 * chunk + 7]) {
    const bytes = randomBytes(size)
    const encrypted = keys.encrypt(bytes)
    expect(keys.decrypt(encrypted).equals(bytes)).toBe(true)
    expect(keys.encrypt(bytes).equals(encrypted)).toBe(false)
  }
})

test('several lists that begin at once note the key, and leave nothing beside it', async () => {
  const landing = await openLanding(join(folder, 'side-by-side'), { keys: new LandingKeys(newKey()) })
  const lists = Array.from({ length: 20 }, (_, index) => `list-${index}`)
  await Promise.all(lists.map(scan => landing.begin(scan, { resource: 'users', scope: {} })))
  const stored = readdirSync(landing.store.root).filter(name => !lists.includes(name))
  expect(stored).toContain('encryption.json')
  expect(stored.filter(name => /part|temporary/.test(name))).toEqual([])
})

test('a byte that was changed, cut off, added, repeated or moved is found', () => {
  const keys = new LandingKeys(newKey())
  const encrypted = keys.encrypt(Buffer.from('{"data":[{"name":"Mustermann"}]}'))
  const found = (bytes: Buffer): unknown => {
    try {
      return keys.decrypt(bytes)
    } catch (error) {
      return error
    }
  }
  for (let at = 0; at < encrypted.length; at += 1) {
    const changed = Buffer.from(encrypted)
    changed[at]! ^= 1
    // Whatever the eight bytes of the id say, it is another key.
    expect(found(changed)).toBeInstanceOf(at >= 8 && at < 16 ? ConfigError : SyntaxError)
    expect(found(encrypted.subarray(0, at))).toBeInstanceOf(SyntaxError)
  }
  expect(found(Buffer.concat([encrypted, Buffer.alloc(1)]))).toBeInstanceOf(SyntaxError)
  const header = 32
  const step = chunk + 16
  const long = keys.encrypt(Buffer.alloc(3 * chunk, 'x'))
  const part = (index: number): Buffer => long.subarray(header + index * step, header + (index + 1) * step)
  const of = (...parts: readonly number[]): Buffer =>
    Buffer.concat([long.subarray(0, header), ...parts.map(part)])
  expect((found(of(0, 1, 2)) as Buffer).length).toBe(3 * chunk)
  for (const parts of [[0, 1], [1, 0, 2], [0, 1, 1, 2], [0, 2], [2]])
    expect(found(of(...parts))).toBeInstanceOf(SyntaxError)
})

const page = (sequence: number, name: string) => ({
  sequence,
  page: sequence,
  fetchedAt: '2026-11-03T02:00:00.000Z',
  runId: 'r',
  bytes: Buffer.from(JSON.stringify({ data: [{ id: 'w1', name }] })),
})

/** Bytes of every file. */
const all = (root: string): string =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'))
    .join()

async function landed(root: string, keys: string | undefined, scan: string): Promise<Landing> {
  const landing = await openLanding(root, keys === undefined ? {} : { keys: new LandingKeys(keys) })
  await landing.begin(scan, { resource: 'users', scope: {} })
  await landing.land(scan, page(1, 'Mustermann'))
  await landing.land(scan, page(2, 'Muster'))
  return landing
}

async function texts(landing: Landing, scan: string): Promise<string[]> {
  const target = mkdtempSync(join(folder, 'unpacked-'))
  await packing(landing.keys, pack => unpack(landing, scan, { folder: target, pack }))
  if (landing.keys) expect(all(target)).not.toContain('Muster')
  const unpacked = await openLanding(target, { keys: landing.keys })
  return (await unpacked.pages(scan)).map(one => pageBytes(one).toString())
}

const both = [page(1, 'Mustermann'), page(2, 'Muster')].map(({ bytes }) => bytes.toString())

test('pages and archives have nothing in clear, are checked, rewritten, and read back', async () => {
  const root = join(folder, 'a.landing')
  const landing = await landed(root, newKey(), 's1')
  expect(all(root)).not.toContain('Muster')
  expect((await landing.pages('s1')).map(one => pageBytes(one).toString())).toEqual(both)
  expect(await damageOf(landing, 0, new Set())).toEqual([])
  const scrub = (bytes: Buffer) =>
    bytes.includes('Mustermann') ? Buffer.from(bytes.toString().replace('Mustermann', '**********')) : bytes
  expect(await rewriteLanding(landing, { scrub, isDry: false, signal })).toEqual({ pages: 1, damaged: [] })
  await compact(landing, ['s1'])
  expect(readdirSync(join(root, 's1.archive')).sort()).toEqual([
    '000001.pages.enc',
    'manifest.json',
    'scan.json',
  ])
  expect(all(root)).not.toContain('Muster')
  expect(await damageOf(landing, 0, new Set())).toEqual([])
  const again = (bytes: Buffer) =>
    bytes.includes('"Muster"') ? Buffer.from(bytes.toString().replace('"Muster"', '"******"')) : bytes
  expect(await rewriteLanding(landing, { scrub: again, isDry: false, signal })).toMatchObject({ pages: 1 })
  expect((await texts(landing, 's1')).join()).not.toContain('Muster')
})

test('a key is changed: what the former one encrypted is read, and encrypted anew', async () => {
  const root = join(folder, 'b.landing')
  const [first, second] = [newKey(), newKey()]
  await compact(await landed(root, undefined, 'plain'), ['plain'])
  await compact(await landed(root, first, 'first'), ['first'])
  expect(all(root)).toContain('PAR1')
  const landing = await landed(root, `${second}\n${first}`, 'second')
  await compact(landing, ['second'])
  for (const scan of ['plain', 'first', 'second']) expect(await texts(landing, scan)).toEqual(both)
  expect(await encryptArchives(landing, signal)).toBe(2)
  expect(await encryptArchives(landing, signal)).toBe(0)
  expect(all(root)).not.toContain('PAR1')
  const without = await openLanding(root, { keys: new LandingKeys(second) })
  for (const scan of ['plain', 'first', 'second']) expect(await texts(without, scan)).toEqual(both)
  expect(await damageOf(without, 0, new Set())).toEqual([])
})

test('without the key, or with another one, the landing does not open', async () => {
  const root = join(folder, 'c.landing')
  const key = newKey()
  const { id } = new LandingKeys(key)
  await landed(root, key, 's')
  await expect(openLanding(root)).rejects.toThrow(
    `landed pages are encrypted with the key ${id}, and there is no landingKey`,
  )
  const other = new LandingKeys(newKey())
  await expect(openLanding(root, { keys: other })).rejects.toThrow(`landingKey is another one (${other.id})`)
  // The file that names the key is gone: the pages themselves say it.
  rmSync(join(root, 'encryption.json'))
  const [one] = await (await openLanding(root, { keys: other })).pages('s')
  expect(() => pageBytes(one!)).toThrow(ConfigError)
  const [bare] = await (await openLanding(root)).pages('s')
  expect(() => pageBytes(bare!)).toThrow(`landed pages are encrypted with the key ${id}`)
})

test('a damaged archive stays for the check to name', async () => {
  const root = join(folder, 'd.landing')
  mkdirSync(root)
  const [first, second] = [newKey(), newKey()]
  await compact(await landed(root, first, 's'), ['s'])
  rmSync(join(root, 's.archive', '000001.pages.enc'))
  const landing = await openLanding(root, { keys: new LandingKeys(`${second} ${first}`) })
  expect(await encryptArchives(landing, signal)).toBe(0)
  expect(await damageOf(landing, 0, new Set())).toEqual([{ scan: 's', what: '000001.pages.enc is missing' }])
})
