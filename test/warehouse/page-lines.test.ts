/** Pages of one line and pages of many are told apart, and read as the same records. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { users } from '../../src/contract/resources/users.ts'
import { knownFields } from '../../src/load/page/known-fields.ts'
import { SeenPaths, usualLimits } from '../../src/load/page/record-limits.ts'
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

const bounds = { limits: usualLimits, seen: new SeenPaths(0) }
const read = async (...pages: PageFile[]) =>
  (await readablePages({ pages, rows: 'data', known, bounds })).pages

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

test('both kinds are read whole, also in one batch', async () => {
  expect(await idsOf(await read(line, ended))).toEqual(['a', 'b', 'a', 'b'])
  expect(await idsOf(await read(indented))).toEqual(['a', 'b'])
  expect(await idsOf(await read(line, indented))).toEqual(['a', 'b', 'a', 'b'])
})

test('a second JSON text after the first line is refused', async () => {
  const doubled = page('doubled.json', JSON.stringify(body).repeat(2))
  await expect(idsOf(await read(doubled))).rejects.toThrow('unexpected content after document')
})
