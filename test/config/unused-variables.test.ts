/** Variables that would make a connection, beside a settings file, which wins. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadSettings } from '../../src/config/settings.ts'
import { temporaryFolder } from '../support/captured-world.ts'

test.each([
  [`\${KEY}`, { KEY: 'k-1', MUSTER_API_KEY: 'k-2' }, ['MUSTER_API_KEY']],
  [
    `\${KEY}`,
    { KEY: 'k-1', MUSTER_API_KEY: 'k-2', MUSTER_BASE_URL: 'http://x' },
    ['MUSTER_BASE_URL and MUSTER_API_KEY'],
  ],
  [`\${MUSTER_API_KEY}`, { MUSTER_API_KEY: 'k-2' }, []],
  // Named in a comment only, as the template does.
  [`\${KEY} # not \${MUSTER_API_KEY}`, { KEY: 'k-1', MUSTER_API_KEY: 'k-2' }, ['MUSTER_API_KEY']],
  [`\${KEY}`, { KEY: 'k-1', MUSTER_WAREHOUSE: 'duckdb:b.duckdb' }, ['MUSTER_WAREHOUSE']],
  [`\${KEY}`, { KEY: 'k-1', MUSTER_API_KEY: '' }, []],
])('beside apiKey %s, %j do not count unless it names them', (apiKey, env, expected) => {
  const cwd = temporaryFolder()
  mkdirSync(join(cwd, 'config'))
  const lines = [
    'connections:',
    '  acme:',
    '    baseUrl: https://api.example.com/v1',
    `    apiKey: ${apiKey}`,
  ]
  writeFileSync(join(cwd, 'config/muster.yaml'), [...lines, '    warehouse: duckdb:a.duckdb', ''].join('\n'))
  const { warnings } = loadSettings({ env, cwd })
  expect(warnings).toEqual(expected.map(names => expect.stringContaining(`overrides ${names}: unset`)))
})
