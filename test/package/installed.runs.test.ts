/** The package, packed and installed into an empty folder as a user would, and run there. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { temporaryFolder } from '../support/captured-world.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const folder = temporaryFolder()
const home = join(folder, 'home')

const quiet = { encoding: 'utf8' } as const

let installed: { readonly status: number | null; readonly stderr: string }

beforeAll(() => {
  mkdirSync(join(folder, 'empty'))
  mkdirSync(home)
  const packing = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder]
  const [{ filename }] = JSON.parse(execFileSync('npm', packing, { ...quiet, cwd: root }))
  const flags = ['--prefer-offline', '--no-audit', '--no-fund', '--prefix', join(folder, 'installed')]
  const { status, stderr } = spawnSync(
    'npm',
    ['install', '--global', ...flags, join(folder, filename)],
    quiet,
  )
  installed = { status, stderr }
})

/** In an empty folder, with nothing of this environment but the way to Node. */
const muster = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(join(folder, 'installed/bin/muster'), args, {
    ...quiet,
    cwd: join(folder, 'empty'),
    env: { PATH: process.env.PATH, HOME: home, TMPDIR: process.env.TMPDIR },
  })
  return { status, stdout, stderr }
}

test("it brings DuckDB's library, what loads it, and no other package", () => {
  const modules = join(folder, 'installed/lib/node_modules/@muster-data/cli/node_modules')
  const names = readdirSync(modules).filter(name => !name.startsWith('.'))
  expect(names).toContain('@duckdb')
  expect(names.filter(name => !['@duckdb', 'detect-libc'].includes(name))).toEqual([])
})

test('npm installs it without a warning, as it runs no script of its own', () => {
  expect(installed).toEqual({ status: 0, stderr: '' })
})

test('man finds its page below the prefix, beside the command', () => {
  const page = readFileSync(join(folder, 'installed/share/man/man1/muster.1'), 'utf8')
  expect(page).toBe(readFileSync(join(root, 'man/muster.1'), 'utf8'))
  const env = { PATH: `${join(folder, 'installed/bin')}:${process.env.PATH}`, HOME: home }
  const found = spawnSync('man', ['-w', 'muster'], { ...quiet, env })
  if (!found.error) expect(found.stdout.trim()).toMatch(/\/man\/muster\.1$|\/man1\/muster\.1$/)
})

test('it prints its version, its help and its DAGs', () => {
  expect(muster('--version')).toEqual({ status: 0, stdout: `${manifest.version}\n`, stderr: '' })
  expect(muster('help', 'sync').stdout).toContain('Usage: muster sync')
  expect(JSON.parse(muster('dag', 'list', '--json').stdout)).toMatchObject([
    { name: 'nightly' },
    { name: 'weekly' },
  ])
})

test('it writes settings to begin with', () => {
  expect(muster('init').status).toBe(0)
  expect(readFileSync(join(folder, 'empty/config/muster.yaml'), 'utf8')).toContain('connections:')
})

test('its demo syncs, builds marts and answers queries, and the commands that it names run', () => {
  const demo = muster('demo')
  expect([demo.status, demo.stderr]).toEqual([0, expect.any(String)])
  const [, second, first] = /with (\d+) requests instead of (\d+):/.exec(demo.stdout) ?? []
  // The README says a fifth.
  expect(Number(second) / Number(first)).toBeGreaterThan(0.15)
  expect(Number(second) / Number(first)).toBeLessThan(0.25)
  const [, line = ''] = /^ +muster (.* sql .*)$/m.exec(demo.stdout) ?? []
  const words = [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word)
  expect(words).toContain('sql')
  expect(muster(...words)).toMatchObject({ status: 0, stderr: '' })
})

test('the report of the demo carries the notices of D3 and Plot', () => {
  const report = readFileSync(join(folder, 'empty/data/demo/report.html'), 'utf8')
  for (const name of ['@observablehq/plot', 'd3-array', 'd3-shape'])
    expect(report).toMatch(new RegExp(`^${name} [\\d.]+: ISC$`, 'm'))
  expect(report).toContain('Permission to use, copy, modify, and/or distribute this software')
})
