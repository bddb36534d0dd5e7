/** What statements have in common: every part is included somewhere, and says what it is. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { catalogue } from '../../src/contract/catalogue.ts'
import { sqlRows } from '../../src/contract/derived/sql-rows.ts'
import { keyedTables } from '../../src/warehouse/schema/unique-key.ts'
import { sqlFiles } from '../../src/warehouse/sql-files.ts'

const sql = fileURLToPath(new URL('../../sql/', import.meta.url))
const folders = readdirSync(sql)
const parts = sqlFiles('part')

test('every part is included by more than one file and described by a sentence, and every inclusion is resolved', () => {
  const written = folders
    .filter(folder => folder !== 'part')
    .flatMap(folder =>
      readdirSync(join(sql, folder)).map(file => readFileSync(join(sql, folder, file), 'utf8')),
    )
  const inSource = readFileSync(join(sql, '../src/state/scans/completeness.ts'), 'utf8')
  // Adds its columns to every mart with weeks.
  const inEveryMart = readFileSync(join(sql, '../src/marts/columns.ts'), 'utf8')
  for (const { name, text } of parts) {
    const part = name.replace(/^part\/|\.sql$/g, '')
    const users = written.filter(one => one.includes(`-- Include: ${part}\n`)).length
    const isShared = users + (inSource.includes(`'${part}'`) ? 1 : 0) > 1 || inEveryMart.includes(`'${part}'`)
    expect([name, isShared]).toEqual([name, true])
    expect(text).toMatch(/^-- [A-Z].*[.:?]/)
  }
  for (const { name, text } of folders.flatMap(sqlFiles))
    expect([name, text.includes('-- Include:')]).toEqual([name, false])
})

test('a line below "For each" is repeated for the catalogue, with a comma between the copies', () => {
  const textOf = (name: string): string =>
    folders.flatMap(sqlFiles).find(file => file.name === `${name}.sql`)?.text ?? ''
  const named = [...textOf('mart/data_health').matchAll(/^ +\('([\w-]+)', '(star\.\w+)'\)(,?)$/gm)]
  const declared = catalogue.flatMap(({ name, table }) =>
    [...new Set(keyedTables(table).map(place => place.table.name))].map(one => `${name} star.${one}`),
  )
  expect(named.map(([, ...row]) => row.slice(0, 2).join(' '))).toEqual(declared)
  expect(named.map(([, , , comma]) => comma).filter(comma => comma === '')).toHaveLength(1)
  expect(textOf('part/stored_rows')).toContain(
    `  union all select 'trades', 1, is_inferred, is_deleted, deleted_at, source_updated_at, first_loaded_at, loaded_at, created_at from star.dim_trade where trade_id <> '-1'\n`,
  )
  for (const { name, text } of folders.flatMap(sqlFiles))
    expect([name, text.match(/-- For each|\{\w+\}/)?.[0]]).toEqual([name, undefined])
  expect(() => sqlRows('table')).toThrow(/write resource, or table of a resource/)
})
