/** Whether the pages of a reading are those of one pass, and how they are put together where they are not. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isOnePass, pageBodies, type SnapshotPassPage } from '../../../src/sync/snapshot/snapshot-scan.ts'

const folder = mkdtempSync(join(tmpdir(), 'muster-pages-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
let files = 0

/** A page with these rows, each of its own name. */
function page(
  number: number,
  names: readonly string[],
  parts: Partial<SnapshotPassPage> & { version?: number } = {},
): SnapshotPassPage {
  const { version = 1, ...rest } = parts
  files += 1
  const file = join(folder, `${files}.json`)
  const data = names.map(name => ({ name, version }))
  writeFileSync(file, JSON.stringify({ success: true, data, meta: { page: number, limit: 200, total: 3 } }))
  const landed = { file, bytes: 1, sequence: files, page: number, fetchedAt: '', runId: '' }
  return { pass: 1, landed, names, total: names.length, ...rest }
}
const all = () => true

describe('pages are those of one pass', () => {
  const [first, second] = [page(1, ['a'], { total: 201 }), page(2, ['b'], { total: 201 })]
  const [again, rest] = [page(1, ['a'], { total: 201, pass: 2 }), page(2, ['b'], { total: 201, pass: 2 })]
  const short = page(1, ['a'], { total: 200 })
  const twice = page(1, ['a', 'a'])

  test.each([
    ['the only pass', [first, second], [first, second], true],
    ['the last pass of two', [first, second, again, rest], [again, rest], true],
    ['an earlier pass', [first, second, again, rest], [first, second], false],
    ['both passes', [first, second, again, rest], [first, second, again, rest], false],
    ['a part of a pass', [first, second], [first], false],
    ['the other part of it', [first, second], [second], false],
    ['a pass that lacks a page of its total', [first], [first], false],
    ['a pass of as many rows as a page has', [short], [short], true],
    ['a pass that shows a row twice', [twice], [twice], false],
    ['no page', [], [], false],
  ])('%s: %#', (...[, asked, chosen, expected]) => expect(isOnePass(asked, chosen, all)).toBe(expected))

  test('not when one of their rows does not count', () => {
    expect(isOnePass([first, second], [first, second], name => name !== 'b')).toBe(false)
  })

  test('not when another pass began with the first page that is chosen', () => {
    expect(isOnePass([first, second, again], [second], all)).toBe(false)
  })
})

describe('pages that are put together', () => {
  const rowsOf = (buffer: Buffer) =>
    JSON.parse(buffer.toString()) as { data: { name: string; version: number }[]; meta: object }

  test('have each row that counts once, as it was received last', () => {
    const pages = [page(1, ['a', 'b', 'x']), page(1, ['c', 'a'], { version: 2 })]
    const [put, ...others] = pageBodies(pages, name => name !== 'x').map(rowsOf)
    expect(others).toEqual([])
    expect(put).toEqual({
      success: true,
      data: [
        { name: 'a', version: 2 },
        { name: 'b', version: 1 },
        { name: 'c', version: 2 },
      ],
      meta: { page: 1, limit: 200, total: 3 },
    })
  })

  test('are full but for the last one', () => {
    const names = Array.from({ length: 401 }, (_, n) => `r${n}`)
    const put = pageBodies([page(1, names)], all).map(rowsOf)
    expect(put.map(({ data }) => [data.length, data[0]?.name])).toEqual([
      [200, 'r0'],
      [200, 'r200'],
      [1, 'r400'],
    ])
    expect(put.map(({ meta }) => meta)).toEqual(
      [1, 2, 3].map(number => ({ page: number, limit: 200, total: 401 })),
    )
  })

  test('are one empty page where no row counts', () => {
    expect(pageBodies([page(1, ['a'])], () => false).map(rowsOf)).toMatchObject([
      { data: [], meta: { total: 0 } },
    ])
  })

  test('leave out a row that has no name', () => {
    const asked = page(1, ['a', 'b'])
    expect(pageBodies([{ ...asked, names: ['a'] }], all).map(rowsOf)).toMatchObject([{ meta: { total: 1 } }])
  })
})
