/** Tables for people. */
import { expect, test } from 'vitest'
import { renderTable } from '../../src/cli/terminal/output.ts'

test('aligns numbers right, with thousands separated, and text left', () => {
  const columns = ['table', 'rows', 'fresh', { title: 'spent', align: 'right' as const }]
  const rows = [
    ['fact_timesheet', 1_234_567, true, '12.50'],
    ['dim_site', 42n, false, null],
  ]
  expect(renderTable(columns, rows).split('\n')).toEqual([
    'table                rows  fresh  spent',
    '--------------  ---------  -----  -----',
    'fact_timesheet  1,234,567  yes    12.50',
    'dim_site               42  no',
  ])
})

test('foreign text can neither move the cursor nor break a row', () => {
  const table = renderTable(['name'], [['a\u001b[2Jb\nc\u202e']])
  expect(table.split('\n')[2]).toBe('a\\u001b[2Jb c\\u202e')
})

test('no rows give the titles alone', () => {
  expect(renderTable(['name', 'rows'], [])).toContain('name  rows')
})
