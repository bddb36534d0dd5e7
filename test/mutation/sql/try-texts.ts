/** Tries each alteration of the SQL in TypeScript files against the rules tests that reach it, in a copy of the project. */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { folderOf } from '../folders.ts'
import { knownOf } from '../known/index.ts'
import { explains, type FolderResult } from '../report.ts'
import { RulesTestRunner } from '../runner/plugin.ts'
import { alteredTexts, type TextMutant } from './texts.ts'

const copied = new Set(['src', 'test', 'sql', 'config', 'package.json', 'tsconfig.json'])

interface TriedText extends TextMutant {
  readonly state: 'killed' | 'survived' | 'not reached'
}

function copyProject(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const name of readdirSync('.').filter(one => !one.startsWith('.')))
    if (copied.has(name)) cpSync(name, join(folder, name), { recursive: true })
    else symlinkSync(resolve(name), join(folder, name))
}

/** What is reached only while a module is loaded counts as not tried. */
export async function tryTexts(files: readonly string[]): Promise<readonly FolderResult[]> {
  if (files.length === 0) return []
  const home = process.cwd()
  const folder = resolve('.mutation/texts')
  copyProject(folder)
  const all = files.flatMap(file => {
    const { mutants, code } = alteredTexts(file, readFileSync(file, 'utf8'))
    writeFileSync(join(folder, file), code)
    return mutants
  })
  process.chdir(folder)
  const runner = new RulesTestRunner()
  await runner.init()
  try {
    const tried = await tryAll(runner, all)
    process.chdir(home)
    return [...new Set(files.map(dirname))].map(one => resultOf(one, tried))
  } finally {
    process.chdir(folder)
    await runner.dispose()
    process.chdir(home)
  }
}

async function tryAll(runner: RulesTestRunner, all: readonly TextMutant[]): Promise<readonly TriedText[]> {
  const { tests: rules, coverage } = await runner.reached()
  const broken = rules.find(({ failure }) => failure !== undefined)
  if (broken) throw new Error(`${broken.name} fails without any alteration: ${broken.failure}`)
  const tried: TriedText[] = []
  for (const mutant of all) {
    const tests = Object.keys(coverage.perTest).filter(test => coverage.perTest[test]?.[mutant.id])
    if (tests.length > 0) {
      const { killer } = await runner.judge({ mutant: mutant.id, tests, hitLimit: undefined })
      tried.push({ ...mutant, state: killer ? 'killed' : 'survived' })
    } else if (!coverage.static[mutant.id]) tried.push({ ...mutant, state: 'not reached' })
  }
  return tried
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
