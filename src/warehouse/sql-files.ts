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

/** In the order of their names. */
export function sqlFiles(folder: string): SqlFile[] {
  return readdirSync(join(sqlFolder, folder))
    .filter(file => file.endsWith('.sql'))
    .sort()
    .map(file => ({ name: `${folder}/${file}`, text: readFileSync(join(sqlFolder, folder, file), 'utf8') }))
}
