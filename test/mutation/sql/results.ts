/** What became of the mutants of SQL, by folder. */
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { known } from '../known/sql.ts'
import { explains, type FolderResult } from '../report.ts'
import { altered, type SqlMutant } from './mutants.ts'

export interface Tried extends SqlMutant {
  readonly file: string
  readonly isKilled: boolean
  /** How many statements read the text. */
  readonly readers: number
}

function survivorOf(tried: Tried) {
  const sql = readFileSync(tried.file, 'utf8')
  const before = sql.slice(0, tried.start)
  const from = before.lastIndexOf('\n') + 1
  const end = sql.indexOf('\n', tried.end)
  const to = end < 0 ? sql.length : end
  const shift = tried.replacement.length - (tried.end - tried.start)
  const found = {
    file: tried.file,
    lineNumber: before.split('\n').length,
    line: sql.slice(from, to).trim().replaceAll(/\s+/g, ' '),
    replacement: altered(sql, tried)
      .slice(from, to + shift)
      .trim()
      .replaceAll(/\s+/g, ' '),
    isCovered: tried.readers > 0,
  }
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
