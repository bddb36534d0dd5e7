/** A build is skipped when it would make what is there, and only then. */
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { isBuilt, recordBuild, sourcesNow } from '../../built-from.ts'

let root: string
const reads = ['node_modules/used/index.js']

const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

const build = (from = sourcesNow(root)): void => {
  write('dist/main.js', 'bundle')
  write('dist/chunks/one.js', 'chunk')
  write('man/muster.1', 'page')
  recordBuild(root, { from, reads })
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'built-from-'))
  for (const path of ['src/main.ts', 'src/cli/one.ts', 'sql/mart/one.sql', 'assets/page.css', 'bundle.ts'])
    write(path, `text of ${path}`)
  for (const path of ['package.json', 'package-lock.json', 'node_modules/.package-lock.json', ...reads])
    write(path, '{}')
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

test('what was built of the same is built', () => {
  expect(isBuilt(root)).toBe(false)
  build()
  expect(isBuilt(root)).toBe(true)
  // What no build reads.
  write('docs/page.md', 'words')
  write('node_modules/other/index.js', 'code')
  expect(isBuilt(root)).toBe(true)
})

const changes: Readonly<Record<string, () => void>> = {
  'a source is edited': () => write('src/cli/one.ts', 'text of src/cli/two.ts'),
  'a source is new': () => write('src/cli/two.ts', ''),
  'a source has gone': () => rmSync(join(root, 'src/cli/one.ts')),
  'a source has another name': () =>
    renameSync(join(root, 'src/cli/one.ts'), join(root, 'src/cli/another.ts')),
  'text moved from the end of one source to the next': () => {
    write('src/cli/one.ts', 'text of src/cli/one.tst')
    write('src/main.ts', 'ext of src/main.ts')
  },
  'a statement is edited': () => write('sql/mart/one.sql', 'select 2'),
  'a style is edited': () => write('assets/page.css', ''),
  'the bundler is told something else': () => write('bundle.ts', ''),
  'another version is locked': () => write('package-lock.json', '{"version": 2}'),
  'another version is installed': () => write('node_modules/.package-lock.json', '{"version": 2}'),
  'the code of a package is edited': () => write(reads[0] ?? '', 'code'),
  'a package has gone': () => rmSync(join(root, 'node_modules/used'), { recursive: true }),
  'a part of the bundle has gone': () => rmSync(join(root, 'dist/chunks/one.js')),
  'a part of the bundle is edited': () => write('dist/chunks/one.js', ''),
  'a part of another bundle is left': () => write('dist/chunks/two.js', 'chunk'),
  'the manual page has gone': () => rmSync(join(root, 'man/muster.1')),
  'the bundle has gone': () => rmSync(join(root, 'dist'), { recursive: true }),
  'the record is cut off': () =>
    write('dist/.built-from.json', readFileSync(join(root, 'dist/.built-from.json'), 'utf8').slice(0, -9)),
  'the record is empty': () => write('dist/.built-from.json', '{}'),
}

test.each(Object.entries(changes))('%s: it is built again', (_, change) => {
  build()
  change()
  expect(isBuilt(root)).toBe(false)
  build()
  expect(isBuilt(root)).toBe(true)
})

test('what is edited while it is built is built by the next', () => {
  const from = sourcesNow(root)
  write('src/main.ts', 'edited')
  build(from)
  expect(isBuilt(root)).toBe(false)
})

test('another Node builds again', () => {
  build(sourcesNow(root).replace(process.version, 'v0.0.0'))
  expect(isBuilt(root)).toBe(false)
})
