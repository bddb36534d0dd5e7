/**
 * npm run test:related [-- OPTION ...]
 * Runs the tests that belong to what was changed since the branch left main, or since the last commit on main. These are the
 * tests that import a changed file, which `vitest related` finds; and those that read it by its name or folder, which no import
 * shows: a module of test/ that reads files is taken to read what its paths name. Options go to vitest, for instance
 * `--project runs` for the slow ones.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

const git = (...args: readonly string[]): string[] =>
  execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean)

function base(): string {
  const [branch] = git('rev-parse', '--abbrev-ref', 'HEAD')
  const isBranch = branch !== 'main' && git('branch', '--list', 'main').length > 0
  return (isBranch && git('merge-base', 'main', 'HEAD')[0]) || 'HEAD'
}

const changed = [...git('diff', '--name-only', base()), ...git('ls-files', '--others', '--exclude-standard')]

/** Folders and files that a module names: beside itself, and in a test below the root. Of a helper they are those of `test`. */
function namedIn(file: string): string[] {
  const text = readFileSync(file, 'utf8')
  const opened = [...text.matchAll(/new URL\(['`]([^'`$]+)[^'`]*['`], import\.meta\.url\)/g)]
  const beside = opened
    .map(([, path = '']) => normalize(join(dirname(file), path)))
    .filter(path => path !== './')
  if (!file.endsWith('.test.ts')) return beside.filter(path => path.startsWith('test/'))
  const below = text.matchAll(
    /['`]((?:src|sql|docs|config|dags|assets)(?:\/[\w./-]*)?|[\w-]+\.(?:md|json|ts))['`]/g,
  )
  return [...beside, ...[...below].map(([, path = '']) => path)]
}

const isUnder = (file: string, path: string): boolean =>
  file === path || file.startsWith(path.endsWith('/') ? path : `${path}/`)

const readers = git('ls-files', 'test').filter(
  file =>
    file.endsWith('.ts') && existsSync(file) && /readdirSync|readFileSync/.test(readFileSync(file, 'utf8')),
)
/** Modules that name what they read elsewhere, and whether a changed file is of it. */
const elsewhere: Readonly<Record<string, (file: string) => boolean>> = {
  'src/warehouse/sql-files.ts': file => file.startsWith('sql/'),
  'test/docs/generated.test.ts': file => file.endsWith('.md'),
}

const reading = [
  ...readers.filter(reader =>
    namedIn(reader).some(path => changed.some(file => file !== reader && isUnder(file, path))),
  ),
  ...Object.keys(elsewhere).filter(module => changed.some(file => elsewhere[module]?.(file))),
]

const files = [...new Set([...changed.filter(file => existsSync(file)), ...reading])]
if (files.length === 0) console.log('nothing was changed')
else {
  console.log(`${changed.length} changed; read by ${reading.join(', ') || 'no module of test/'}`)
  const given = process.argv.slice(2)
  const project = given.some(option => option.startsWith('--project')) ? [] : ['--project', 'quick']
  const options = ['related', '--run', '--passWithNoTests', ...project, ...given]
  process.exitCode = spawnSync('npx', ['vitest', ...options, ...files], { stdio: 'inherit' }).status ?? 1
}
