/**
 * "How to add things" in docs/architecture.md is complete: each change is made in a copy of the project, in the files that its
 * row names and in no others; then the copy passes its own tests, and its program syncs, builds, checks and answers.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { additions, type Edits } from './additions.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'muster-additions-'))

/** Row of the page -> the paths that it names, as patterns: words in capitals stand for any name. */
function namedPaths(): ReadonlyMap<string, readonly RegExp[]> {
  const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8').split('## How to add things')[1] ?? ''
  const rows = page.split('\n## ')[0]?.split('\n') ?? []
  return new Map(
    rows.map(row => {
      const [, title = '', files = ''] = row.split('|').map(cell => cell.trim())
      const paths = [...files.matchAll(/`((?:src|sql|test)\/[^`]+\.\w+)`/g)]
      return [
        title,
        paths.map(
          ([, path = '']) => new RegExp(`^${path.replaceAll('.', '\\.').replace(/[A-Z]{4,}/g, '[\\w-]+')}$`),
        ),
      ]
    }),
  )
}

function apply(edits: Edits): void {
  for (const [file, edit] of Object.entries(edits)) {
    const path = join(folder, file)
    if (typeof edit === 'string') {
      if (existsSync(path)) throw new Error(`${file} exists: change it by pairs [after, added]`)
      writeFileSync(path, edit)
      continue
    }
    let text = readFileSync(path, 'utf8')
    for (const [after, added] of edit) {
      if (!text.includes(after))
        throw new Error(`test/docs/additions.ts: ${file} does not have ${JSON.stringify(after)}`)
      text = text.replace(after, () => after + added)
    }
    writeFileSync(path, text)
  }
}

const inCopy = (command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): string =>
  execFileSync(command, args, { cwd: folder, encoding: 'utf8', env: { ...process.env, ...env } })

const program = ['dist/main.js']
let env: NodeJS.ProcessEnv
let stop = async (): Promise<void> => undefined
const muster = (...args: readonly string[]): string => inCopy(process.execPath, [...program, ...args], env)

async function serveCopiedSandbox(): Promise<void> {
  const child = spawn(process.execPath, [...program, ...'sandbox --scale 0.02 --port 0 --json'.split(' ')], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  stop = async () => {
    child.kill('SIGINT')
    await once(child, 'close')
  }
  let out = ''
  for await (const data of child.stdout.iterator({ destroyOnReturn: false })) {
    out += data
    if (out.includes('}\n')) break
  }
  env = { ...JSON.parse(out).env, MUSTER_WAREHOUSE: `duckdb:${join(folder, 'added.duckdb')}` }
}

beforeAll(async () => {
  const tracked = ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate']
  const files = execFileSync('git', tracked, { cwd: root, encoding: 'utf8' }).trim().split('\n')
  for (const file of files.filter(name => existsSync(join(root, name))))
    cpSync(join(root, file), join(folder, file))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const { edits } of additions) apply(edits)
  inCopy('npm', ['run', '-s', 'build'])
  await serveCopiedSandbox()
}, 600_000)

afterAll(async () => {
  await stop()
  rmSync(folder, { recursive: true, force: true })
})

test.each(additions)('the page names each file of $row, and no other', ({ row, edits }) => {
  const named = namedPaths().get(row) ?? []
  const files = Object.keys(edits)
  expect(
    files.filter(file => !named.some(one => one.test(file))),
    `docs/architecture.md, "How to add things", leaves these files out of ${row}`,
  ).toEqual([])
  expect(
    named.filter(one => !files.some(file => one.test(file))).map(String),
    `docs/architecture.md, "How to add things", names files for ${row} that it does not need`,
  ).toEqual([])
})

test('the copy compiles, and its tests pass once what is generated is accepted', () => {
  inCopy('node_modules/.bin/tsc', ['--noEmit'])
  inCopy('node_modules/.bin/biome', ['check', '--formatter-enabled=false', 'src', 'test/marts/audit'])
  const accepted = ['docs/generated', 'cli/help-golden', 'contract/recorded'].map(
    name => `test/${name}.test.ts`,
  )
  const tests = [
    ...['test/architecture.test.ts', 'test/docs', 'test/contract', 'test/dictionary'],
    ...['declared-fields', 'lists'].map(name => `test/sandbox/endpoints/${name}.test.ts`),
    ...['openapi', 'tools'].map(name => `test/sandbox/server/${name}.test.ts`),
    ...['test/cli/me.test.ts', 'test/torture', 'test/sync/snapshot/few-refusals.rules.test.ts'],
  ]
  const given = { MUSTER_TEST_POSTGRES: inject('postgres') }
  const run = (...args: readonly string[]) =>
    inCopy('node_modules/.bin/vitest', ['run', '--project', 'quick', ...args], given)
  run(...accepted, '--update')
  run(...tests)
  const ofMarts = ['test/marts/audit/audit.test.ts', 'test/marts/checks.test.ts']
  for (const file of [...accepted, ...tests, ...ofMarts])
    expect(existsSync(join(folder, file)), `${file} of this test is gone`).toBe(true)
  run(...ofMarts)
}, 600_000)

test('a field and a resource arrive', () => {
  muster('sync', 'companies', 'projects', 'sites', 'depots', 'timesheets', '--quiet')
  const count = (sql: string) => JSON.parse(muster('sql', '--json', sql))
  expect(count(`select count(*) > 0 as ok from star.dim_site where headcount_limit > 0`)).toEqual([
    { ok: true },
  ])
  expect(count(`select count(*) > 0 as ok from star.dim_depot where name like '% depot 1'`)).toEqual([
    { ok: true },
  ])
})

test('a mart is built and checked, and its panel shown', () => {
  expect(muster('build', 'site_hours')).toMatch(/^1 built/)
  expect(muster('check', 'mart_site_hours_totals')).toMatch(/^all pass: 1 check/)
  muster('dashboard', '--out', 'report.html')
  expect(readFileSync(join(folder, 'report.html'), 'utf8')).toContain('Sites by hours')
})

test('a command answers', () => {
  expect(JSON.parse(muster('me'))).toMatchObject({ scopes: expect.arrayContaining(['read:users']) })
})
