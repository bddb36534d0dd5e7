/** What `npm pack` puts into the package: all that the program needs, and nothing of whoever packs it. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

const run = (command: string, ...args: string[]): string =>
  execFileSync(command, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })

let packed: string[]

beforeAll(() => {
  const [{ files }] = JSON.parse(run('npm', 'pack', '--dry-run', '--json', '--ignore-scripts'))
  packed = files.map(({ path }: { path: string }) => path)
})

const shipped = [
  'package.json',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'config/muster.example.yaml',
  'config/muster.schema.json',
  'man/muster.1',
]

test('holds the bundle without its maps, what it reads, and the papers: no other file of this folder', () => {
  const ours = ['ls-files', '--cached', '--others', '--exclude-standard', 'sql', 'dags', 'assets']
  const tracked = run('git', ...ours)
    .trim()
    .split('\n')
  const others = packed.filter(path => !path.startsWith('dist/'))
  expect(others.sort()).toEqual([...shipped, ...tracked].sort())
  expect(packed.filter(path => path.endsWith('.map'))).toEqual([])
  expect(packed.filter(path => path.includes('/.'))).toEqual([])
  expect(packed).toContain('dist/THIRD-PARTY-LICENSES')
})

test('settings of a developer are neither packed nor committed', () => {
  expect(run('git', 'check-ignore', 'config/muster.yaml')).toBe('config/muster.yaml\n')
  expect(manifest.files).not.toContain('config')
})

/** Modules that a file of the bundle loads by name, from Node or from a package. */
const namedIn = (path: string): string[] =>
  [
    ...readFileSync(join(root, path), 'utf8').matchAll(
      /^import\b[^'"\n]*?from?\s*["']([^"'.\n][^"'\n]*)["']/gm,
    ),
  ].map(([, name = '']) => name)

describe('the bundle', () => {
  test('loads what its dependencies name, and each of them', () => {
    const named = new Set(packed.filter(path => path.endsWith('.js')).flatMap(namedIn))
    const packages = [...named].filter(name => !name.startsWith('node:') && !builtinModules.includes(name))
    expect(packages.filter(name => !(name in manifest.dependencies))).toEqual([])
  })

  test('contains no path of the machine that made it', () => {
    const telling = packed.filter(
      path => path.startsWith('dist/') && readFileSync(join(root, path), 'utf8').includes(root),
    )
    expect(telling).toEqual([])
  })

  test('is complete: each file of it that another loads is packed', () => {
    const loads = packed
      .filter(path => path.startsWith('dist/') && path.endsWith('.js'))
      .flatMap(path =>
        [
          ...readFileSync(join(root, path), 'utf8').matchAll(/["'](\.\.?\/[\w./-]+-[A-Z0-9]{8}\.js)["']/g),
        ].map(([, target = '']) => join(path, '..', target)),
      )
    expect(loads.length).toBeGreaterThan(100)
    expect(loads.filter(path => !packed.includes(path))).toEqual([])
    expect(existsSync(join(root, manifest.bin.muster))).toBe(true)
  })
})
