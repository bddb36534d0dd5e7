/** Pages of one line and pages of many are told apart, and read as the same records. */
import { existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { users } from '../../src/contract/resources/users.ts'
import { numberKey } from '../../src/load/page/joined-pages.ts'
import { knownFields } from '../../src/load/page/known-fields.ts'
import { defaultLimits, SeenPaths } from '../../src/load/page/record-limits.ts'
import { readablePages } from '../../src/load/read/page-repair.ts'
import { elements, type PageFile } from '../../src/load/read/pages.ts'
import { openStage } from '../../src/warehouse/duckdb/open.ts'

const folder = mkdtempSync(join(tmpdir(), 'muster-lines-'))
const body = { success: true, data: [{ id: 'a', note: 'one\ntwo' }, { id: 'b' }] }

function page(name: string, text: string): PageFile {
  const file = join(folder, name)
  writeFileSync(file, text)
  return { file, bytes: Buffer.byteLength(text), fetchedAt: '2026-11-02T09:00:00Z', runId: 'run', scope: {} }
}

const known = knownFields(users.table)

const bounds = { limits: defaultLimits, seen: new SeenPaths(0) }
const readable = (...pages: PageFile[]) => readablePages({ pages, rows: 'data', known, bounds })
const read = async (...pages: PageFile[]) => (await readable(...pages)).pages

async function idsOf(pages: readonly PageFile[]): Promise<string[]> {
  const stage = await openStage(join(folder, 'stage'))
  try {
    const rows = await stage.rows<{ id: string }>(
      `select json_extract_string(j, '$.id') as id from (${elements(pages, 'data')}) order by locator`,
    )
    return rows.map(({ id }) => id)
  } finally {
    await stage.close()
  }
}

const line = page('line.json', JSON.stringify(body))
const ended = page('ended.json', `${JSON.stringify(body)}\n`)
const indented = page('indented.json', JSON.stringify(body, null, 2))

test('what runs beside gets its turn in the middle of pages with thousands of undeclared fields', async () => {
  const fields = Object.fromEntries(Array.from({ length: 5000 }, (_, field) => [`field_${field}`, field]))
  const records = Array.from({ length: 100 }, (_, index) => ({ id: `r${index}`, ...fields }))
  const large = page('large.json', JSON.stringify({ success: true, data: records }))
  let [last, longest] = [performance.now(), 0]
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  })
  const started = performance.now()
  await read(large)
  const took = performance.now() - started
  clearInterval(timer)
  expect(longest).toBeGreaterThan(0)
  expect(longest).toBeLessThan(took / 2)
})

test('a line feed before the end makes a page multi-line', async () => {
  expect((await read(line, ended, indented)).map(({ isLine }) => isLine)).toEqual([true, true, false])
})

test('both kinds are read completely, also in one batch', async () => {
  expect(await idsOf(await read(line, ended))).toEqual(['a', 'b', 'a', 'b'])
  expect(await idsOf(await read(indented))).toEqual(['a', 'b'])
  expect(await idsOf(await read(line, indented))).toEqual(['a', 'b', 'a', 'b'])
})

test('a second JSON text after the first line is refused', async () => {
  const doubled = page('doubled.json', JSON.stringify(body).repeat(2))
  await expect(idsOf(await read(doubled))).rejects.toThrow('unexpected content after document')
})

test('nor among small pages, which are read from one file', async () => {
  const doubled = page('doubled-small.json', JSON.stringify(body).repeat(2))
  await expect(read(line, doubled, ended).then(idsOf)).rejects.toThrow()
})

const isJoined = (pages: readonly PageFile[]): boolean => pages.every(({ joined }) => joined !== undefined)
const small = (index: number): PageFile =>
  page(
    `small-${index}.json`,
    JSON.stringify({ success: true, data: [{ id: `s${index}` }, { id: `t${index}` }] }),
  )
const many = Array.from({ length: 30 }, (_, index) => small(index))

test('small pages are read from one file, each under its number, and the file is removed', async () => {
  const { pages, cleanUp } = await readable(...many)
  expect(isJoined(pages)).toBe(true)
  expect(await idsOf(pages)).toEqual(many.flatMap((_, index) => [`s${index}`, `t${index}`]))
  cleanUp()
  expect(existsSync(pages[0]?.joined ?? '')).toBe(false)
})

test.each([
  ['is large', JSON.stringify({ success: true, data: [{ id: 'x', note: 'n'.repeat(70_000) }] })],
  ['has lines', JSON.stringify({ success: true, data: [{ id: 'x' }] }, null, 1)],
  ['begins with space', ` ${JSON.stringify({ success: true, data: [{ id: 'x' }] })}`],
  ['begins with U+FEFF', `\uFEFF${JSON.stringify({ success: true, data: [{ id: 'x' }] })}`],
  ['has a key like the number', JSON.stringify({ data: [{ id: 'x' }], [numberKey]: 1 })],
  ['is empty', '{}'],
])('no page is joined where one %s', async (_, text) => {
  const odd = page('odd.json', text)
  const { pages, cleanUp } = await readable(...many.slice(0, 3), odd, ...many.slice(3, 6))
  expect(pages.some(({ joined }) => joined !== undefined)).toBe(false)
  cleanUp()
})

test('an unreadable page leaves no joined file', async () => {
  const broken = page('broken.json', '{"data":[{"id":}]}')
  await expect(readable(...many.slice(0, 2), broken)).rejects.toThrow('a page cannot be loaded')
  expect(readdirSync(folder)).not.toContain('small-0.json.joined')
})
