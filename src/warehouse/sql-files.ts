/** The statements of `sql/`, which ship with the program: one file an idea, named for what it makes. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const sqlFolder = fileURLToPath(new URL('../../sql/', import.meta.url))

export interface SqlFile {
  /** With its folder, as `mart/worker_week.sql`. */
  readonly name: string
  readonly text: string
}

const read = (path: string): string => readFileSync(join(sqlFolder, path), 'utf8')

/** A line of its own; what several statements have in common is written once, in `sql/part`. */
const inclusion = /^-- Include: (\w+)\n/gm

/** Comments stay, but for the first ones: they tell the reader of the file, and in a header would say something else. */
const withParts = (text: string): string =>
  text.replace(
    inclusion,
    (_, name: string) =>
      `${read(`part/${name}.sql`)
        .replace(/^(?:--.*\n)+/, '')
        .trimEnd()}\n`,
  )

/** In the order of their names, each with the parts that it includes in their places. */
export function sqlFiles(folder: string): SqlFile[] {
  return readdirSync(join(sqlFolder, folder))
    .filter(file => file.endsWith('.sql'))
    .sort()
    .map(file => ({ name: `${folder}/${file}`, text: withParts(read(`${folder}/${file}`)) }))
}
