/** Reads the statements of `sql/`, which ship with the program. Each file is named after what it creates. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type SqlRow, sqlRows } from '../contract/derived/sql-rows.ts'
import { packageFile } from '../lib/package.ts'

const sqlFolder = packageFile('sql')

export interface SqlFile {
  /** With its folder, such as `mart/worker_week.sql`. */
  readonly name: string
  readonly text: string
}

const read = (path: string): string => readFileSync(join(sqlFolder, path), 'utf8')

/** A line that is replaced by a part from `sql/part`, which several statements share. */
const inclusion = /^-- Include: (\w+)\n/gm

/** Drops the comments before a part: they belong to its own file, and would be taken for another file's header. */
const withParts = (text: string): string =>
  text.replace(
    inclusion,
    (_, name: string) =>
      `${read(`part/${name}.sql`)
        .replace(/^(?:--.*\n)+/, '')
        .trimEnd()}\n`,
  )

/** The next line is repeated for each catalogue row; a comma at its end separates the copies. */
const repetition = /^ *-- For each ([a-z ]+):\n.*\n/gm

const filled = (line: string, row: SqlRow): string =>
  line.replace(/\{(\w+)\}/g, (_, name: string) => String(row[name]))

const withRows = (text: string): string =>
  text.replace(repetition, (lines, rows: string) => {
    const line = lines.split('\n')[1] ?? ''
    const comma = line.endsWith(',') ? ',' : ''
    const copies = sqlRows(rows).map(row => filled(comma ? line.slice(0, -1) : line, row))
    return `${copies.join(`${comma}\n`)}\n`
  })

/** Files of a folder by name, with included parts inserted. */
export function sqlFiles(folder: string): SqlFile[] {
  return readdirSync(join(sqlFolder, folder))
    .filter(file => file.endsWith('.sql'))
    .sort()
    .map(file => ({ name: `${folder}/${file}`, text: withRows(withParts(read(`${folder}/${file}`))) }))
}

/** Parts in their order as `with ...` without a select, for statements in the program. */
export function withPart(...names: readonly string[]): string {
  const text = withRows(withParts(names.map(name => `-- Include: ${name}\n`).join('')))
  return `with ${text.trimEnd().replace(/,$/, '')}`
}
