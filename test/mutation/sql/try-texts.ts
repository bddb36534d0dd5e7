/** Tries each alteration of the SQL in TypeScript files against the rules tests that reach it, in a copy of the project. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { folderOf } from '../folders.ts'
import { knownOf } from '../known/index.ts'
import { explains, type FolderResult } from '../report.ts'
import { statesIn, type TextState } from './text-states.ts'
import { alteredTexts, type TextMutant } from './texts.ts'

const copied = new Set(['src', 'test', 'sql', 'config', 'package.json', 'tsconfig.json'])

interface TriedText extends TextMutant {
  readonly state: TextState
}

function copyProject(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const name of readdirSync('.').filter(one => !one.startsWith('.')))
    if (copied.has(name)) cpSync(name, join(folder, name), { recursive: true })
    else symlinkSync(resolve(name), join(folder, name))
}

/** DuckDB sometimes crashes with a test that is given up: another process goes on where that one ended. */
function judge(folder: string, all: readonly TextMutant[]): ReadonlyMap<string, TextState> {
  const notes = resolve(folder, 'notes.ndjson')
  writeFileSync(join(folder, 'mutants.json'), JSON.stringify(all.map(({ id }) => id)))
  writeFileSync(notes, '')
  const command = ['--import', 'tsx', 'test/mutation/sql/judge-texts.ts', 'mutants.json', notes]
  for (;;) {
    const { status, signal } = spawnSync(process.execPath, command, { cwd: folder, stdio: 'inherit' })
    if (status === 0) return statesIn(notes)
    if (signal === null) process.exit(status ?? 1)
  }
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
  const states = judge(folder, all)
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
