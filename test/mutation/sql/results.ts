/** What became of the mutants of SQL, by folder. */
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { known } from '../known/sql.ts'
import { explains, type FolderResult } from '../report.ts'
import type { MutantState } from './notes.ts'
import { placeOf } from './place.ts'
import type { FileMutant } from './sample.ts'

interface Tried extends FileMutant {
  readonly state: MutantState
}

function survivorOf(tried: Tried) {
  const place = placeOf(readFileSync(tried.file, 'utf8'), tried)
  const found = { file: tried.file, ...place, isCovered: tried.state === 'survived' }
  return { ...found, reason: known.equivalents?.find(one => explains(one, found))?.reason }
}

export function sqlResults(all: readonly Tried[]): FolderResult[] {
  const folders = [...new Set(all.map(({ file }) => dirname(file)))].sort()
  return folders.map(folder => {
    const own = all.filter(({ file }) => dirname(file) === folder)
    const survivors = own.filter(({ state }) => state !== 'killed').map(survivorOf)
    return { folder, mutants: own.length, killed: own.length - survivors.length, survivors }
  })
}
