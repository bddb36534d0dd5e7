/** Tries each alteration of the SQL in TypeScript files against the rules tests that reach it, in a copy of the project. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { folderOf } from '../folders.ts'
import { knownOf } from '../known/index.ts'
import { explains, type FolderResult } from '../report.ts'
import { type MutantState, statesOf } from './notes.ts'
import { alteredTexts, type TextMutant } from './texts.ts'

const copied = new Set(['src', 'test', 'sql', 'config', 'package.json', 'tsconfig.json'])

interface TriedText extends TextMutant {
  readonly state: MutantState
}

/** Without what is built; other files and folders are links. */
export function copyProject(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const name of readdirSync('.').filter(one => !one.startsWith('.')))
    if (copied.has(name)) cpSync(name, join(folder, name), { recursive: true })
    else symlinkSync(resolve(name), join(folder, name))
}

/** Runs the rules tests in the copy, and more of its tests, once for each id, which its files are instrumented with. */
export function judgeByRules(
  folder: string,
  ids: readonly string[],
  more: readonly string[] = [],
): ReadonlyMap<string, MutantState> {
  const notes = resolve(folder, 'notes.ndjson')
  writeFileSync(join(folder, 'mutants.json'), JSON.stringify(ids))
  const command = ['--import', 'tsx', 'test/mutation/sql/judge-texts.ts', 'mutants.json', notes]
  const chosen = { MUSTER_MORE_TESTS: JSON.stringify(more), MUSTER_TEST_WITHOUT_POSTGRES: '1' }
  const env = { ...process.env, ...chosen }
  return statesOf(notes, () => spawnSync(process.execPath, command, { cwd: folder, env, stdio: 'inherit' }))
}

/** What is reached only while a module is loaded counts as not tried. */
export function tryTexts(files: readonly string[]): readonly FolderResult[] {
  if (files.length === 0) return []
  const folder = resolve('.mutation/texts')
  copyProject(folder)
  const all = files.flatMap(file => {
    const { mutants, code } = alteredTexts(file, readFileSync(file, 'utf8'))
    writeFileSync(join(folder, file), code)
    return mutants
  })
  const states = judgeByRules(
    folder,
    all.map(({ id }) => id),
  )
  const tried = all.flatMap(mutant => {
    const state = states.get(mutant.id)
    return state === undefined ? [] : [{ ...mutant, state }]
  })
  return [...new Set(files.map(dirname))].map(one => resultOf(one, tried))
}

function resultOf(folder: string, tried: readonly TriedText[]): FolderResult {
  const own = tried.filter(({ file }) => dirname(file) === folder)
  const known = knownOf[folderOf(`${folder}/`) as keyof typeof knownOf].equivalents ?? []
  const survivors = own
    .filter(({ state }) => state !== 'killed')
    .map(({ file, lineNumber, replacement, state }) => {
      const line = (readFileSync(file, 'utf8').split('\n')[lineNumber - 1] ?? '').trim()
      const found = { file, lineNumber, line, replacement, isCovered: state === 'survived' }
      return { ...found, reason: known.find(one => explains(one, found))?.reason }
    })
  return { folder: `SQL of ${folder}`, mutants: own.length, killed: own.length - survivors.length, survivors }
}
