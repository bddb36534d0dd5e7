/** The files of an archive, and its manifest, so that each of them can be told to be as it was written. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type FileSum, sumOf } from './journal.ts'
import { factsName } from './scan-facts.ts'
import type { LandingStore } from './store.ts'

/** Written when the archive is complete. */
export const manifestName = 'manifest.json'

/** Whether a file of an archive has pages. */
export const isPacked = (name: string): boolean => name.endsWith('.parquet')

/** Of a folder of this machine, as JSON. */
export function manifestOf(folder: string): string {
  const packed = readdirSync(folder).filter(isPacked).sort()
  const files = [factsName, ...packed].map(name => sumOf(name, readFileSync(join(folder, name))))
  return JSON.stringify({ files })
}

const isSums = (json: unknown): json is FileSum[] =>
  Array.isArray(json) && json.length > 0 && json.every(one => typeof Object(one).name === 'string')

/** Undefined when there is none that can be read. */
export async function sumsIn(store: LandingStore, archive: string): Promise<FileSum[] | undefined> {
  const text = await store.read(`${archive}/${manifestName}`)
  try {
    const { files } = Object(text && JSON.parse(text.toString('utf8'))) as { files?: unknown }
    return isSums(files) ? files : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
