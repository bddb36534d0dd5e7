/** Settings of many connections: in several files, and with one that is wrong. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { settingOrigins } from '../../src/config/origins.ts'
import { connectionNames, loadSettings, loadStoredOfAll } from '../../src/config/settings.ts'
import { ENV, folder, messageOf } from './written-settings.ts'

const key = '$'.concat('{KEY}')
const line = (name: string, rest = `warehouse: "duckdb:data/${name}.duckdb"`): string =>
  `  ${name}: { baseUrl: https://api.example.com, apiKey: "${key}", ${rest} }\n`

function place(files: Readonly<Record<string, string>>): string {
  const cwd = folder()
  mkdirSync(join(cwd, 'config/muster.d'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text)
  return cwd
}

const two = {
  'config/muster.d/b.yaml': `connections:\n${line('beta')}`,
  'config/muster.d/a.yml': `connections:\n${line('alpha')}`,
  'config/muster.d/.hidden.yaml': 'not: settings',
  'config/muster.d/notes.txt': 'no settings either',
}

test.each([
  {
    how: 'beside the usual file',
    files: { ...two, 'config/muster.yaml': `connections:\n${line('main')}` },
    names: ['main', 'alpha', 'beta'],
  },
  { how: 'alone', files: two, names: ['alpha', 'beta'] },
  { how: 'in a folder that is named', files: two, configFile: 'config/muster.d', names: ['alpha', 'beta'] },
])('files of a folder, $how', ({ files, configFile, names }) => {
  const cwd = place(files)
  const settings = loadSettings({ env: ENV, cwd, ...(configFile !== undefined && { configFile }) })
  expect([...settings.connections.keys()]).toEqual(names)
  const origins = settingOrigins({ env: ENV, cwd, ...(configFile !== undefined && { configFile }) }).settings
  expect(origins.find(({ connection, name }) => connection === 'beta' && name === 'baseUrl')?.from).toBe(
    'config/muster.d/b.yaml:2',
  )
})

test('a folder without files, and a connection in two of them, are one line', () => {
  const cwd = place({})
  mkdirSync(join(cwd, 'empty'))
  expect(messageOf(() => loadSettings({ env: ENV, cwd, configFile: 'empty' }))).toMatch(
    /^empty has no settings file/,
  )
  const twice = place({ ...two, 'config/muster.d/c.yaml': `connections:\n${line('beta')}` })
  expect(messageOf(() => loadSettings({ env: ENV, cwd: twice }))).toMatch(
    /config\/muster.d\/b.yaml and config\/muster.d\/c.yaml both have beta/,
  )
})

test.each([
  ['a key that is not set', `apiKeyFile: secrets/none`],
  ['no warehouse', 'retentionDays: 3'],
  ['an unknown setting', 'warehouse: "duckdb:data/bad.duckdb", wharehouse: no'],
  ['the warehouse of another', 'warehouse: "duckdb:data/alpha.duckdb"'],
])('a connection with %s leaves the others alone', (_, rest) => {
  const bad = `  bad: { baseUrl: https://api.example.com, ${rest} }\n`
  const cwd = place({ 'config/muster.yaml': `connections:\n${line('alpha')}${line('beta')}${bad}` })
  const request = { env: ENV, cwd }
  expect(connectionNames(request)).toEqual(['alpha', 'beta', 'bad'])
  expect(loadSettings({ ...request, connection: 'beta' }).connections.has('beta')).toBe(true)
  expect(() => loadSettings({ ...request, connection: 'bad' })).toThrow()
  expect(() => loadSettings(request)).toThrow()
  const { connections, faulty } = loadStoredOfAll(request)
  // Whoever only reads needs no key.
  const isReadable = rest.startsWith('apiKeyFile')
  expect([
    connections.has('alpha'),
    connections.has('beta'),
    connections.has('bad') || faulty.has('bad'),
  ]).toEqual([true, true, true])
  if (!isReadable) expect(faulty.get('bad')).toMatch(/^line 4: /)
})
