/** docs/data.md defines every mart that measures something, and names only columns that exist. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { readMarts } from '../../src/marts/mart.ts'
import { measuresOf } from '../../src/marts/measures.ts'

const page = readFileSync(fileURLToPath(new URL('../../docs/data.md', import.meta.url)), 'utf8')
const [written = ''] = (page.split('\n## Definitions\n')[1] ?? '').split('\n## ')
const marts = readMarts().filter(({ name }) => !name.startsWith('dim_'))
const rows = written.split('\n').filter(line => line.startsWith('|') && line.includes('`'))
const named = [...rows.join('\n').matchAll(/`(\w+)\.(\w+)`/g)].map(([, mart = '', column = '']) => ({
  mart,
  column,
}))

test('each column of a definition exists and is a measure', () => {
  const measures = new Set(
    marts.flatMap(mart => measuresOf(mart).map(({ column }) => `${mart.name}.${column}`)),
  )
  const wrong = named.map(({ mart, column }) => `${mart}.${column}`).filter(name => !measures.has(name))
  expect(wrong).toEqual([])
})

test('each definition has a column, a formula and a caution', () => {
  const cells = rows.map(row =>
    row
      .split(/(?<!\\)\|/)
      .map(cell => cell.trim())
      .slice(1, -1),
  )
  expect(rows.length).toBeGreaterThan(40)
  expect(cells.filter(row => row.length !== 4 || row.some(cell => cell === ''))).toEqual([])
})
