/** Tries alterations of `sql/part` against tests, which read some parts by the program beside marts and checks. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { groupBy } from '../../../src/lib/group-by.ts'
import { altered } from './mutants.ts'
import type { MutantState } from './notes.ts'
import type { FileMutant } from './sample.ts'
import { instruments } from './texts.ts'
import { copyProject, judgeByRules } from './try-texts.ts'

const reader = 'src/warehouse/sql-files.ts'
const reading = "readFileSync(join(sqlFolder, path), 'utf8')"

/** Reads a file with the alteration that is on, and notes that a test has reached all of them. */
const alteredReading = `
const alterations__ = JSON.parse(readFileSync('alterations.json', 'utf8'))
function read__(path, text) {
  const own = alterations__[path] ?? []
  return own.find(({ id }) => isOn__(id))?.text ?? reach__(own.map(({ id }) => id), text)
}
`

/** Of rows written by hand, in one process as rules tests are. */
const handMade = (): string[] =>
  readdirSync('test/marts')
    .filter(name => name.endsWith('.test.ts') && !/\.(runs|long)\./.test(name))
    .map(name => join('test/marts', name))
    .filter(file => readFileSync(file, 'utf8').includes('useHandMade'))

/** By id. */
export function tryParts(mutants: readonly FileMutant[]): ReadonlyMap<string, MutantState> {
  if (mutants.length === 0) return new Map()
  const folder = resolve('.mutation/parts')
  copyProject(folder)
  const source = readFileSync(reader, 'utf8')
  if (!source.includes(reading)) throw new Error(`${reader} does not read files by ${reading}`)
  const code = source.replace(reading, `read__(path, ${reading})`)
  writeFileSync(join(folder, reader), `// @ts-nocheck\n${code}${instruments}${alteredReading}`)
  const textsOf = (file: string, own: readonly FileMutant[]) => {
    const text = readFileSync(file, 'utf8')
    return own.map(mutant => ({ id: mutant.id, text: altered(text, mutant) }))
  }
  const byFile = [...groupBy(mutants, ({ file }) => file)].map(
    ([file, own]) => [relative('sql', file), textsOf(file, own)] as const,
  )
  writeFileSync(join(folder, 'alterations.json'), JSON.stringify(Object.fromEntries(byFile)))
  return judgeByRules(
    folder,
    mutants.map(({ id }) => id),
    ['test/state/completeness.test.ts', ...handMade()],
  )
}
