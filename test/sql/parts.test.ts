/** What statements have in common: every part is included somewhere, and says what it is. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { catalogue } from '../../src/contract/catalogue.ts'
import { placesOf } from '../../src/warehouse/schema/unique-key.ts'
import { sqlFiles } from '../../src/warehouse/sql-files.ts'

const sql = fileURLToPath(new URL('../../sql/', import.meta.url))
const folders = readdirSync(sql)
const parts = sqlFiles('part')

test('every part is in more than one file, told by a sentence, and no file is left with an inclusion', () => {
  const written = folders
    .filter(folder => folder !== 'part')
    .flatMap(folder =>
      readdirSync(join(sql, folder)).map(file => readFileSync(join(sql, folder, file), 'utf8')),
    )
  for (const { name, text } of parts) {
    const line = `-- Include: ${name.replace(/^part\/|\.sql$/g, '')}\n`
    expect([name, written.filter(one => one.includes(line)).length > 1]).toEqual([name, true])
    expect(text).toMatch(/^-- [A-Z].*[.:?]/)
  }
  for (const { name, text } of folders.flatMap(sqlFiles))
    expect([name, text.includes('-- Include:')]).toEqual([name, false])
})

test('the part that names tables names all that the records of each resource become', () => {
  const text = parts.find(({ name }) => name === 'part/resource_table.sql')?.text ?? ''
  const named = [...text.matchAll(/\('([\w-]+)', '(star\.\w+)', (true|false)\)/g)].map(([, ...row]) =>
    row.join(' '),
  )
  const declared = catalogue.flatMap(({ name, table }) =>
    [...new Set(placesOf(table).map(place => place.table.name))].map(
      one => `${name} star.${one} ${one === table.name}`,
    ),
  )
  expect(named).toEqual(declared)
})
