/** The imports and habits of `src` keep to the layers of test/support/layers.ts. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { catalogue } from '../src/contract/catalogue.ts'
import { physicalTables } from '../src/warehouse/schema/physical.ts'
import { layers } from './support/layers.ts'

/** Folders whose outside packages are few on purpose. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  config: ['zod', 'yaml'],
  lib: ['croner', 'date-fns', '@date-fns/utc', '@date-fns/tz', 'leven'],
}

interface Habit {
  readonly pattern: RegExp
  readonly isAllowed: (file: string) => boolean
  readonly advice: string
}

const HABITS: readonly Habit[] = [
  {
    pattern: /\bprocess\s*\.\s*env\b/,
    isAllowed: file => layerOf(file) === 'config',
    advice: 'reads process.env: take the environment as a parameter (src/config/environment.ts)',
  },
  {
    pattern: /\bprocess\s*\.\s*exit\s*\(/,
    isAllowed: file => file === 'main.ts',
    advice: 'calls process.exit: return an exit code or throw, src/main.ts ends the process',
  },
  {
    pattern: /\bDate\s*\.\s*now\b|\bnew\s+Date\s*(\(\s*\)|(?!\s*\())|\bperformance\s*\.\s*now\b/,
    isAllowed: file => file === 'lib/clock.ts',
    advice: 'reads the time: take a Clock as a parameter (src/lib/clock.ts)',
  },
  {
    pattern: /\bMath\s*\.\s*random\b/,
    isAllowed: file => file === 'lib/rng.ts',
    advice: 'draws from Math.random: take an Rng as a parameter (src/lib/rng.ts)',
  },
  {
    pattern: /\b86_?400_?000\b|\b[gs]etUTC[A-Z]/,
    isAllowed: file => file === 'lib/dates.ts',
    advice: 'computes days: src/lib/dates.ts does',
  },
  {
    pattern:
      /\bprocess\s*\.\s*std(out|err)\b|\bconsole\s*\.|\bworld\s*\.\s*std(out|err)\s*\.\s*write\b|\/dev\/(std|tty|fd)|\bwriteSync\(\s*[12]\b/,
    isAllowed: file => file === 'cli/terminal/terminal.ts',
    advice: 'writes to the terminal: src/cli/terminal/terminal.ts does, and escapes',
  },
]

const VAGUE_NAMES = ['utils', 'helpers', 'common', 'manager', 'service', 'types']
const LONGEST_FILE = 400

/** Path below `src`, with forward slashes -> text. */
type Tree = ReadonlyMap<string, string>

function layerOf(file: string): string {
  return file.includes('/') ? (file.split('/')[0] ?? '') : basename(file, '.ts')
}

const COMMENTS = /\/\*[\s\S]*?\*\/|(^|[^:'"`])\/\/.*/gm
const QUOTED = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g
const IMPORTS = /\bfrom\s*['"]([^'"]+)['"]|\bimport\s*\(\s*['"]([^'"]+)['"]|^\s*import\s*['"]([^'"]+)['"]/gm

function importsOf(text: string): readonly string[] {
  const code = text.replace(COMMENTS, '$1')
  return [...code.matchAll(IMPORTS)].map(match => match[1] ?? match[2] ?? match[3] ?? '')
}

/** `date-fns/addDays` is of the package `date-fns`. */
const isOf = (name: string, target: string): boolean => target === name || target.startsWith(`${name}/`)

/** Relative imports as paths below `src`. */
function targetsOf(file: string, text: string): readonly string[] {
  return importsOf(text)
    .filter(target => target.startsWith('.'))
    .map(target => posix.join(posix.dirname(file), target))
}

function layerProblems(tree: Tree): readonly string[] {
  return [...tree].flatMap(([file, text]) => {
    const layer = layerOf(file)
    const allowed = layers[layer]?.imports
    if (!allowed) return [`src/${file}: ${layer} is not in the table of test/support/layers.ts`]
    const upward = targetsOf(file, text)
      .filter(target => ![layer, 'lib', ...allowed].includes(layerOf(target)))
      .map(
        target => `src/${file} imports src/${target}: ${layer} may import ${['lib', ...allowed].join(', ')}`,
      )
    const known = PACKAGES[layer]
    const foreign = importsOf(text)
      .filter(target => known && !/^(\.|node:)/.test(target) && !known.some(name => isOf(name, target)))
      .map(target => `src/${file} imports ${target}: ${layer} may only use ${known?.join(', ') || 'node:'}`)
    return [...upward, ...foreign]
  })
}

function cycles(tree: Tree): readonly string[] {
  const found: string[] = []
  const finished = new Set<string>()
  const visit = (file: string, trail: readonly string[]): void => {
    if (trail.includes(file)) {
      found.push(
        `${[...trail.slice(trail.indexOf(file)), file].join(' -> ')}: move what both need to a third file`,
      )
    } else if (!finished.has(file)) {
      for (const target of targetsOf(file, tree.get(file) ?? '')) visit(target, [...trail, file])
      finished.add(file)
    }
  }
  for (const file of tree.keys()) visit(file, [])
  return found
}

function missingTargets(tree: Tree): readonly string[] {
  return [...tree].flatMap(([file, text]) =>
    targetsOf(file, text)
      .filter(target => !tree.has(target))
      .map(target => `src/${file} imports src/${target}, which does not exist`),
  )
}

function habitProblems(tree: Tree): readonly string[] {
  return [...tree].flatMap(([file, text]) => {
    const code = text.replace(COMMENTS, '$1').replace(QUOTED, "''")
    return HABITS.filter(habit => !habit.isAllowed(file) && habit.pattern.test(code)).map(
      habit => `src/${file} ${habit.advice}`,
    )
  })
}

function shapeProblems(tree: Tree): readonly string[] {
  return [...tree].flatMap(([file, text]) => {
    const lines = text.trimEnd().split('\n').length
    const start = file === 'main.ts' ? text.replace(/^#!.*\n/, '') : text
    return [
      VAGUE_NAMES.includes(basename(file, '.ts')) && `src/${file}: name it for the one thing it holds`,
      lines > LONGEST_FILE && `src/${file} has ${lines} lines, more than ${LONGEST_FILE}: split it by idea`,
      !/^\/\*\*\s/.test(start) && `src/${file} does not begin with a /** sentence that says what it is */`,
    ].filter(problem => problem !== false)
  })
}

/** A folder with more files beside each other holds several ideas. */
const maxFiles = 20

/** Folders of many alike: a file a command, a resource. */
const CATALOGUES = new Set(['cli/commands', 'contract/resources'])

function folderProblems(tree: Tree): readonly string[] {
  const counts = new Map<string, number>()
  for (const file of tree.keys()) counts.set(posix.dirname(file), (counts.get(posix.dirname(file)) ?? 0) + 1)
  return [...counts]
    .filter(([folder, count]) => count > maxFiles && !CATALOGUES.has(folder))
    .map(([folder, count]) => `src/${folder} has ${count} files: group them by idea`)
}

/** What only one folder may know, in code, in the texts of its statements and in comments. */
const ROOMS: readonly Habit[] = [
  {
    pattern: /\bops\.[a-z_]/,
    isAllowed: file => layerOf(file) === 'state',
    advice: 'speaks of a table of ops: make it a function of src/state',
  },
  {
    pattern: /\bschema\('ops'\)/,
    isAllowed: file => ['state', 'warehouse'].includes(layerOf(file)),
    advice: 'puts the name of a table of ops together: make it a function of src/state or src/warehouse',
  },
  {
    pattern:
      /\bpg_catalog\b|\binformation_schema\b|\b(from|join)\s+pg_\w|\bduckdb_\w+\(|\b(has_\w+_privilege|pg_has_role|to_regclass|current_setting|(obj|col)_description)\(/i,
    isAllowed: file => layerOf(file) === 'warehouse',
    advice: 'asks the catalogue of an engine: make it a function of src/warehouse (catalogue.ts)',
  },
  {
    pattern:
      /[!=]==\s*'(duckdb|postgres)'|'(duckdb|postgres)'\s*[!=]==|\bcase '(duckdb|postgres)'|\[\w*engine\.\w+\]/i,
    isAllowed: file => layerOf(file) === 'warehouse',
    advice:
      'asks which engine it is: make the difference something that engines can do (src/warehouse/engine.ts)',
  },
]

function roomProblems(tree: Tree): readonly string[] {
  return [...tree].flatMap(([file, text]) =>
    ROOMS.filter(room => !room.isAllowed(file) && room.pattern.test(text)).map(
      room => `src/${file} ${room.advice}`,
    ),
  )
}

/** Names of resources and tables; those of one letter case and no dash are words like any other. */
const declaredNames = new Set([
  ...catalogue.map(({ name }) => name),
  ...physicalTables.map(({ schema, name }) => `${schema}.${name}`),
  ...physicalTables.map(({ name }) => name).filter(name => /^(dim|fact|bridge)_/.test(name)),
])

/** Rooms where names are declared; the sandbox has names of its own. */
const DECLARING = new Set(['contract', 'state', 'sandbox'])

const LISTS = /\[[^[\]]*\]|\{[^{}]*\}/g

/** Lists of three names or more: each would have to be edited when a resource or a table is added. */
function nameLists(tree: Tree): readonly string[] {
  return [...tree]
    .filter(([file]) => !DECLARING.has(layerOf(file)))
    .flatMap(([file, text]) =>
      [...text.replace(COMMENTS, '$1').matchAll(LISTS)]
        .map(([list]) => [...list.matchAll(QUOTED)].map(([quoted]) => quoted.slice(1, -1)))
        .filter(words => words.filter(word => declaredNames.has(word)).length >= 3)
        .map(
          words =>
            `src/${file} lists ${words.slice(0, 4).join(', ')}: make it a property of what is declared`,
        ),
    )
}

const SWALLOWED =
  /\bcatch\s*(?:\(\w*\)\s*)?\{\s*\}|\.catch\(\s*\(\w*\)\s*=>\s*(?:undefined|null|\{\s*\})\s*\)/
const BARE = /\bcatch\s*\{/

/** A failure that is caught without being looked at needs a sentence, there or just above, that says which is expected. */
function catchProblems(tree: Tree): readonly string[] {
  return [...tree].flatMap(([file, text]) => {
    const lines = text.split('\n')
    return lines.flatMap((line, index) => {
      if (!SWALLOWED.test(line) && !BARE.test(line)) return []
      const around = [lines[index - 1] ?? '', line, BARE.test(line) ? (lines[index + 1] ?? '') : '']
      return around.some(near => /\/\/|\*\//.test(near))
        ? []
        : [`src/${file}:${index + 1} catches without saying which failure it expects`]
    })
  })
}

function readTree(folder: string): Tree {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name =>
    name.endsWith('.ts'),
  )
  return new Map(
    files.sort().map(name => [name.replaceAll('\\', '/'), readFileSync(join(folder, name), 'utf8')]),
  )
}

const src = readTree(join(dirname(fileURLToPath(import.meta.url)), '..', 'src'))

describe('src', () => {
  test('was found', () => expect(src.size).toBeGreaterThan(10))
  test('imports downwards only', () => expect(layerProblems(src)).toEqual([]))
  test('imports only files that exist', () => expect(missingTargets(src)).toEqual([]))
  test('has no cycles', () => expect(cycles(src)).toEqual([]))
  test('takes time, chance and environment as parameters', () => expect(habitProblems(src)).toEqual([]))
  test('has short, named and introduced files', () => expect(shapeProblems(src)).toEqual([]))
  test('has folders of one idea each', () => expect(folderProblems(src)).toEqual([]))
  test('speaks of ops, engines and their catalogues where they are at home', () =>
    expect(roomProblems(src)).toEqual([]))
  test('lists names only where they are declared', () => expect(nameLists(src)).toEqual([]))
  test('swallows no failure in silence', () => expect(catchProblems(src)).toEqual([]))
})

/** The layer table must have no cycle of its own, or the rules would allow one. */
test('the layer table goes downwards', () => {
  const order = Object.keys(layers)
  for (const [layer, { imports }] of Object.entries(layers))
    for (const lower of imports)
      expect(order.indexOf(lower), `${layer} -> ${lower}`).toBeLessThan(order.indexOf(layer))
})

describe('the rules catch', () => {
  const tree = (files: Record<string, string>): Tree => new Map(Object.entries(files))

  test.each([
    ['an upward import', { 'api/a.ts': `import { b } from '../sync/b.ts'` }],
    ['an import of several lines', { 'lib/a.ts': `import {\n  b,\n} from '../api/b.ts'` }],
    ['a type import', { 'landing/a.ts': `import type { B } from '../warehouse/b.ts'` }],
    ['a lazy import', { 'sync/a.ts': `const b = await import('../sandbox/b.ts')` }],
    ['a re-export', { 'contract/a.ts': `export { b } from '../api/b.ts'` }],
    ['a bare import', { 'contract/a.ts': `import '../api/b.ts'` }],
    ['a new folder', { 'other/a.ts': '' }],
    ['a foreign package of config', { 'config/a.ts': `import pino from 'pino'` }],
  ])('%s', (_, files) => expect(layerProblems(tree(files))).toHaveLength(1))

  test('a cycle', () => {
    const files = tree({
      'api/a.ts': `import './b.ts'`,
      'api/b.ts': `import './c.ts'`,
      'api/c.ts': `import './a.ts'`,
    })
    expect(cycles(files)).toEqual([expect.stringContaining('api/a.ts -> api/b.ts -> api/c.ts -> api/a.ts')])
  })

  test.each([
    ['process.env', 'const home = process.env.HOME'],
    ['process.exit', 'process.exit(1)'],
    ['Date.now', 'const now = Date.now()'],
    ['new Date()', 'const now = new Date()'],
    ['Date.now after an address', `const url = 'http://x'; const now = Date.now()`],
    ['Date.now in a template', `const name = ${'`run-$'}{Date.now()}${'`'}`],
    ['Math.random', 'const dice = Math.random()'],
    ['a day in milliseconds', 'const tomorrow = now + 86_400_000'],
    ['fields of a Date', 'const month = date.getUTCMonth()'],
    ['the terminal', 'process.stdout.write(text)'],
    ['the console', 'console.log(text)'],
    ['a stream of the world', 'world.stderr.write(text)'],
  ])('%s', (_, text) => expect(habitProblems(tree({ 'api/a.ts': text }))).toHaveLength(1))

  test.each([
    ['a date of something', 'const day = new Date(text)'],
    ['words in a comment', '/** Date.now() is not read here. */\nconst a = 1 // nor Math.random()'],
    ['words in a text', `const advice = 'process.exit() ends it'`],
    ['the clock itself', 'const now = clock.now()'],
  ])('not %s', (_, text) => expect(habitProblems(tree({ 'api/a.ts': text }))).toEqual([]))

  test.each([
    ['a table of ops', 'const rows = await engine.rows(`select 1 from ops.run`)'],
    ['the schema ops', `const table = \`\${engine.schema('ops')}.run\``],
    ['the catalogue of PostgreSQL', 'const rows = await engine.rows(`select oid from pg_catalog.pg_class`)'],
    ['a function of PostgreSQL', 'const zones = `select name\nfrom pg_timezone_names()`'],
    ['the catalogue of DuckDB', 'const rows = await engine.rows(`select * from duckdb_tables()`)'],
    ['the information schema', 'const rows = await engine.rows(`select * from INFORMATION_SCHEMA.tables`)'],
    ['an engine', `if (engine.kind === 'duckdb') return`],
  ])('%s outside its room', (_, text) => expect(roomProblems(tree({ 'api/a.ts': text }))).toHaveLength(1))

  test('a vague name, a long file and a file without a sentence', () => {
    const files = tree({
      'api/utils.ts': '/** A. */',
      'api/a.ts': `/** A. */${'\n//'.repeat(400)}`,
      'api/b.ts': '',
    })
    expect(shapeProblems(files)).toHaveLength(3)
  })
})

test('each test file is quick or has the suffix of another suite', () => {
  const suites = ['rules', 'runs', 'long', 'browser', 'airflow', 'celery', 'lake', 's3', 'spark']
  const suffixes = readdirSync(dirname(fileURLToPath(import.meta.url)), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.test.ts'))
    .map(name => basename(name, '.test.ts').split('.').slice(1).join('.'))
  expect([...new Set(suffixes)].filter(suffix => suffix !== '' && !suites.includes(suffix))).toEqual([])
})
