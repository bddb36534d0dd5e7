/** What became of the mutants of SQL, by folder. */
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { known } from '../known/sql.ts'
import { explains, type FolderResult } from '../report.ts'
import type { SqlMutant } from './mutants.ts'
import { placeOf } from './place.ts'

export interface Tried extends SqlMutant {
  readonly file: string
  readonly isKilled: boolean
  /** How many statements read the text. */
  readonly readers: number
}

function survivorOf(tried: Tried) {
  const place = placeOf(readFileSync(tried.file, 'utf8'), tried)
  const found = { file: tried.file, ...place, isCovered: tried.readers > 0 }
  return { ...found, reason: known.equivalents?.find(one => explains(one, found))?.reason }
}

export function sqlResults(all: readonly Tried[]): FolderResult[] {
  const folders = [...new Set(all.map(({ file }) => dirname(file)))].sort()
  return folders.map(folder => {
    const own = all.filter(({ file }) => dirname(file) === folder)
    const survivors = own.filter(({ isKilled }) => !isKilled).map(survivorOf)
    return { folder, mutants: own.length, killed: own.length - survivors.length, survivors }
  })
}
