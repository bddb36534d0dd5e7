/** The page of definitions knows every mart that measures something, and names only columns that there are. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { measuresOf } from '../../src/marts/additivity.ts'
import { readMarts } from '../../src/marts/mart.ts'

const page = readFileSync(fileURLToPath(new URL('../../docs/definitions.md', import.meta.url)), 'utf8')
const [written = '', generated = ''] = page.split('## Every measure')
const marts = readMarts().filter(({ name }) => !name.startsWith('dim_'))
const rows = written.split('\n').filter(line => line.startsWith('|') && line.includes('`'))
const named = [...rows.join('\n').matchAll(/`(\w+)\.(\w+)`/g)].map(([, mart = '', column = '']) => ({
  mart,
  column,
}))

test('every mart with measures has a definition in words', () => {
  const defined = new Set(named.map(({ mart }) => mart))
  const without = marts.filter(mart => measuresOf(mart).length > 0 && !defined.has(mart.name))
  expect(without.map(({ name }) => name)).toEqual([])
})

test('each column of a definition exists and is a measure', () => {
  const measures = new Set(
    marts.flatMap(mart => measuresOf(mart).map(({ column }) => `${mart.name}.${column}`)),
  )
  const wrong = named.map(({ mart, column }) => `${mart}.${column}`).filter(name => !measures.has(name))
  expect(wrong).toEqual([])
})

test('each definition has a formula, what it is not, and who uses it', () => {
  const cells = rows.map(row =>
    row
      .split(/(?<!\\)\|/)
      .map(cell => cell.trim())
      .slice(1, -1),
  )
  expect(rows.length).toBeGreaterThan(40)
  expect(cells.filter(row => row.length !== 5 || row.some(cell => cell === ''))).toEqual([])
})

test('each measure is listed with the words of its header', () => {
  const missing = marts.flatMap(mart =>
    measuresOf(mart)
      .filter(({ column }) => !generated.includes(`| \`${column}\``))
      .map(({ column }) => `${mart.name}.${column}`),
  )
  expect(missing).toEqual([])
})
