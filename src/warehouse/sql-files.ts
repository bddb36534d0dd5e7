/** The statements of `sql/`, which ship with the program. Each file holds one idea and is named for what it makes. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type SqlRow, sqlRows } from '../contract/derived/sql-rows.ts'
import { packageFile } from '../lib/package.ts'

const sqlFolder = packageFile('sql')

export interface SqlFile {
  /** With its folder, as `mart/worker_week.sql`. */
  readonly name: string
  readonly text: string
}

const read = (path: string): string => readFileSync(join(sqlFolder, path), 'utf8')

/** A line of its own: a part of `sql/part` that several statements share goes in its place. */
const inclusion = /^-- Include: (\w+)\n/gm

/** The comments before a part go: they are for readers of its file, and would be read as the header of another one. */
const withParts = (text: string): string =>
  text.replace(
    inclusion,
    (_, name: string) =>
      `${read(`part/${name}.sql`)
        .replace(/^(?:--.*\n)+/, '')
        .trimEnd()}\n`,
  )

/** The line below it is repeated for rows of the catalogue; a comma at its end separates the copies. */
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

/** In the order of their names, each with the parts that it includes in their places. */
export function sqlFiles(folder: string): SqlFile[] {
  return readdirSync(join(sqlFolder, folder))
    .filter(file => file.endsWith('.sql'))
    .sort()
    .map(file => ({ name: `${folder}/${file}`, text: withRows(withParts(read(`${folder}/${file}`))) }))
}

/** The expressions of one part, for a statement of the program that reads them as well: `with ...`, up to a select. */
export function withPart(name: string): string {
  const text = withRows(withParts(`-- Include: ${name}\n`))
  return `with ${text.trimEnd().replace(/,$/, '')}`
}
