/** Settings: what is read, what is refused and in which words, and that secrets stay secret. */
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { Environment } from '../../src/config/environment.ts'
import { connectionNamed, loadSettings } from '../../src/config/settings.ts'
import { ConfigError, UsageError } from '../../src/lib/errors.ts'

const ENV = { KEY: 'key-0123456789', HOOK: 'hook-0123456789', PASSWORD: 'pass word' }
const URL_LINE = 'baseUrl: https://api.example.com/api/open/v1'

function folder(): string {
  const cwd = mkdtempSync(join(tmpdir(), 'muster-config-'))
  mkdirSync(join(cwd, 'config'))
  return cwd
}

function load(text: string, env: Environment = ENV, cwd = folder()) {
  writeFileSync(join(cwd, 'config/muster.yaml'), text)
  return { settings: loadSettings({ env, cwd }), cwd }
}

/** Text of a connection `acme` whose lines from the fourth on are given. */
function acme(...lines: string[]): string {
  return ['connections:', '  acme:', `    ${URL_LINE}`, ...lines.map(line => `    ${line}`)].join('\n')
}

const KEY = `apiKey: \${KEY}`
const DUCKDB = 'warehouse: duckdb:data/acme.duckdb'

function messageOf(attempt: () => unknown): string {
  try {
    attempt()
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    return (error as Error).message
  }
  throw new Error('nothing was thrown')
}

describe('a file', () => {
  test('gives a connection with its defaults', () => {
    const { settings, cwd } = load(acme(KEY, DUCKDB))
    const connection = connectionNamed(settings)
    expect({ ...connection, apiKey: connection.apiKey.reveal() }).toEqual({
      name: 'acme',
      baseUrl: 'https://api.example.com/api/open/v1',
      apiKey: ENV.KEY,
      warehouse: { engine: 'duckdb', file: join(cwd, 'data/acme.duckdb') },
      landing: join(cwd, 'data/acme.landing'),
      retentionDays: 90,
      lookbackMinutes: 15,
      pageCapMegabytes: 32,
      reportingZone: 'Europe/London',
    })
    expect(settings.source).toBe('config/muster.yaml')
  })

  test('may put variables into braces, quotes and the middle of a text', () => {
    const { settings, cwd } = load(
      acme(
        KEY,
        `webhook: { secret: \${HOOK}, headerPrefix: X-\${BRAND} }`,
        `warehouse: "postgres://me:\${PASSWORD}@db:5432/x"`,
        `retentionDays: \${DAYS}`,
        'schemaPrefix: acme_',
      ),
      { ...ENV, DAYS: '30', BRAND: 'Acme: #1'.slice(0, 4) },
    )
    const { webhook, warehouse, retentionDays, landing } = connectionNamed(settings, 'acme')
    expect([webhook?.secret.reveal(), webhook?.headerPrefix]).toEqual([ENV.HOOK, 'X-Acme'])
    expect(warehouse.engine === 'postgres' && [warehouse.url.reveal(), warehouse.shown]).toEqual([
      'postgres://me:pass word@db:5432/x',
      'postgres://me@db:5432/x',
    ])
    expect([retentionDays, landing]).toEqual([30, join(cwd, 'data/landing/acme')])
    expect(settings.warnings).toEqual([])
  })

  test('cannot be changed in shape by the value of a variable', () => {
    const { settings } = load(acme(KEY, DUCKDB), { KEY: 'a: {b: "c' })
    expect(connectionNamed(settings).apiKey.reveal()).toBe('a: {b: "c')
  })

  test('named on the command line must exist', () => {
    const attempt = () => loadSettings({ configFile: 'other.yaml', env: ENV, cwd: folder() })
    expect(messageOf(attempt)).toBe(
      'other.yaml does not exist: write it with `muster init --config other.yaml`',
    )
  })

  test.each([
    [
      'an unknown key',
      acme(KEY, DUCKDB, 'retentiondays: 3'),
      'line 6: unknown key retentiondays in connections.acme, did you mean retentionDays?',
    ],
    [
      'a key of another style',
      acme('api_key: x', KEY, DUCKDB),
      'line 4: unknown key api_key in connections.acme, did you mean apiKey?',
    ],
    [
      'an unknown root key',
      `conections: {}\n${acme(KEY, DUCKDB)}`,
      'line 1: unknown key conections, did you mean connections?',
    ],
    [
      'an unknown key in braces',
      acme(KEY, DUCKDB, `webhook: { secret: \${HOOK}, prefix: X }`),
      'line 6: unknown key prefix in connections.acme.webhook, did you mean headerPrefix?',
    ],
    [
      'a variable that is not set',
      acme(`apiKey: \${ACME_KEY}`, DUCKDB),
      'line 4: connections.acme.apiKey uses the environment variable ACME_KEY, which is not set',
    ],
    [
      'a key in the file',
      acme('apiKey: abcdef', DUCKDB),
      `line 4: connections.acme.apiKey holds the secret itself: write \${VARIABLE} or set connections.acme.apiKeyFile instead`,
    ],
    ['no key', acme(DUCKDB), 'line 2: connections.acme.apiKey is missing'],
    [
      'two keys',
      acme(KEY, 'apiKeyFile: x', DUCKDB),
      'line 5: connections.acme.apiKey and connections.acme.apiKeyFile are both set: keep one',
    ],
    [
      'a key file that is not there',
      acme('apiKeyFile: nowhere', DUCKDB),
      'line 4: connections.acme.apiKeyFile names nowhere, which cannot be read',
    ],
    [
      'a webhook secret in the file',
      acme(KEY, DUCKDB, 'webhook: { secret: abc }'),
      `line 6: connections.acme.webhook.secret holds the secret itself: write \${VARIABLE} or set connections.acme.webhook.secretFile instead`,
    ],
    [
      'another database',
      acme(KEY, 'warehouse: mysql://x'),
      'line 5: connections.acme.warehouse must be duckdb:FILE or postgres://USER@HOST:PORT/DATABASE',
    ],
    [
      'a database in memory',
      acme(KEY, 'warehouse: "duckdb::memory:"'),
      'line 5: connections.acme.warehouse must be duckdb:FILE or postgres://USER@HOST:PORT/DATABASE',
    ],
    ['no warehouse', acme(KEY), 'line 2: connections.acme.warehouse is missing'],
    [
      'a prefix for DuckDB',
      acme(KEY, DUCKDB, 'schemaPrefix: a_'),
      'line 6: schemaPrefix is for PostgreSQL only: remove it',
    ],
    [
      'text for a number',
      acme(KEY, DUCKDB, 'retentionDays: long'),
      'line 6: connections.acme.retentionDays must be a whole number',
    ],
    [
      'too small a number',
      acme(KEY, DUCKDB, 'pageCapMegabytes: 0'),
      'line 6: connections.acme.pageCapMegabytes must be at least 1',
    ],
    [
      'a zone that is none',
      acme(KEY, DUCKDB, 'reportingZone: London'),
      'line 6: connections.acme.reportingZone must be Europe/London: days are counted in no other zone yet',
    ],
    ['text for a group', 'connections: acme', 'line 1: connections must be a group of settings'],
    ['no connection', 'connections: {}', 'line 1: connections is empty: add one, as `muster init` does'],
    [
      'an odd name',
      acme(KEY, DUCKDB).replace('acme:', 'a/b:'),
      'line 2: connection name a/b: use letters, digits, _ and -',
    ],
    ['an empty file', '', 'line 1: the file is missing'],
  ])('with %s is refused', (_, text, expected) => {
    expect(messageOf(() => load(text))).toBe(`config/muster.yaml is wrong: ${expected}`)
  })

  test('lists all its problems at once, in one line, in the order of the file', () => {
    const text = acme(
      'apikey: x',
      `warehouse: \${NOWHERE}`,
      'lookbackMinutes: -1',
      'webhook: { secret: abc }',
    )
    expect(messageOf(() => load(text))).toBe(
      'config/muster.yaml is wrong (5 problems): ' +
        'line 2: connections.acme.apiKey is missing; ' +
        'line 4: unknown key apikey in connections.acme, did you mean apiKey?; ' +
        'line 5: connections.acme.warehouse uses the environment variable NOWHERE, which is not set; ' +
        'line 6: connections.acme.lookbackMinutes must be at least 0; ' +
        'line 7: connections.acme.webhook.secret holds the secret itself: ' +
        `write \${VARIABLE} or set connections.acme.webhook.secretFile instead`,
    )
  })

  test('that is not YAML is refused with line and column', () => {
    const message = messageOf(() => load(`connections:\n  acme: [\${KEY}\n`))
    expect(message).toMatch(/^config\/muster\.yaml:\d:\d+ Flow sequence .*: correct the YAML there$/)
  })

  test('may not lead two connections into one warehouse', () => {
    const second = acme(KEY, DUCKDB).replace('connections:\n', '').replace('acme:', 'beta:')
    expect(messageOf(() => load(`${acme(KEY, DUCKDB)}\n${second}`))).toContain(
      'line 9: acme and beta share a warehouse: give each a file',
    )
  })
})

describe('secrets', () => {
  test('may come from a file, which others should not be able to read', () => {
    const cwd = folder()
    writeFileSync(join(cwd, 'key'), ' from-a-file \n', { mode: 0o600 })
    const first = load(acme('apiKeyFile: key', DUCKDB), ENV, cwd).settings
    expect([connectionNamed(first).apiKey.reveal(), first.warnings]).toEqual(['from-a-file', []])
    chmodSync(join(cwd, 'key'), 0o644)
    expect(load(acme('apiKey: file:key', DUCKDB), ENV, cwd).settings.warnings).toEqual([
      'line 4: key can be read by every user of this machine: chmod 600 key',
    ])
  })

  test('are not shown by printing, logging or serialising', () => {
    const { settings } = load(
      acme(KEY, `warehouse: postgres://me:\${PASSWORD}@db/x`, `webhook: { secret: \${HOOK} }`),
    )
    const connection = connectionNamed(settings)
    const shown = [
      inspect(connection, { depth: 9, showHidden: true }),
      inspect(settings, { depth: 9 }),
      JSON.stringify(connection),
      String(connection.apiKey),
      `${connection.webhook?.secret}`,
    ].join()
    for (const secret of Object.values(ENV)) expect(shown).not.toContain(secret)
    expect(settings.secrets.map(secret => secret.reveal())).toEqual(Object.values(ENV))
  })

  test('a password in the file is warned of, and not quoted', () => {
    const { settings } = load(acme(KEY, 'warehouse: postgres://me:literal@db/x'))
    expect(settings.warnings).toEqual([
      `line 5: connections.acme.warehouse holds a password: write \${VARIABLE} instead`,
    ])
  })
})

describe('without a file', () => {
  const load = (env: Environment) => {
    const cwd = folder()
    return { cwd, settings: loadSettings({ env, cwd }) }
  }
  const BASE = { MUSTER_BASE_URL: 'https://api.example.com/v1', MUSTER_API_KEY: 'key' }

  test('a few variables make the connection default', () => {
    const { settings, cwd } = load(BASE)
    expect(connectionNamed(settings)).toMatchObject({
      name: 'default',
      baseUrl: BASE.MUSTER_BASE_URL,
      warehouse: { engine: 'duckdb', file: join(cwd, 'data/muster.duckdb') },
      landing: join(cwd, 'data/muster.landing'),
      retentionDays: 90,
    })
  })

  test('the others are read as well', () => {
    const { settings, cwd } = load({
      ...BASE,
      MUSTER_WAREHOUSE: 'postgresql://me:secret@db/x',
      MUSTER_LANDING: 'pages',
      MUSTER_WEBHOOK_SECRET: 'hook',
      MUSTER_WEBHOOK_PREVIOUS_SECRET: 'older hook',
    })
    const { warehouse, landing, webhook } = connectionNamed(settings)
    const hooks = [webhook?.secret.reveal(), webhook?.previousSecret?.reveal()]
    expect([warehouse.engine, landing, ...hooks]).toEqual([
      'postgres',
      join(cwd, 'pages'),
      'hook',
      'older hook',
    ])
    expect(settings.secrets.map(one => one.reveal())).toContain('older hook')
    expect(settings.warnings).toEqual([])
  })

  test.each([
    [
      {},
      'there are no settings: config/muster.yaml does not exist: run `muster init`, or set MUSTER_BASE_URL and MUSTER_API_KEY',
    ],
    [
      { MUSTER_API_KEY: 'x' },
      'environment is wrong: MUSTER_BASE_URL: connections.default.baseUrl is missing',
    ],
    [
      { ...BASE, MUSTER_API_KEY: '' },
      'environment is wrong: MUSTER_API_KEY: connections.default.apiKey is missing',
    ],
    [
      { ...BASE, MUSTER_WAREHOUSE: 'x' },
      'environment is wrong: MUSTER_WAREHOUSE: connections.default.warehouse must be duckdb:FILE or postgres://USER@HOST:PORT/DATABASE',
    ],
  ])('%o is refused', (env, expected) => {
    expect(messageOf(() => load(env))).toBe(expected)
  })
})

describe('connectionNamed', () => {
  const two = () => {
    const other = DUCKDB.replace('acme', 'beta')
    const second = acme(KEY, other).replace('connections:\n', '').replace('acme:', 'beta:')
    return load(`${acme(KEY, DUCKDB)}\n${second}`).settings
  }

  test('finds by name', () => expect(connectionNamed(two(), 'beta').name).toBe('beta'))

  test('asks which, and corrects a slip', () => {
    expect(() => connectionNamed(two())).toThrow(UsageError)
    expect(() => connectionNamed(two())).toThrow(
      'config/muster.yaml has 2 connections: say which with --connection NAME (acme, beta)',
    )
    expect(() => connectionNamed(two(), 'betta')).toThrow(
      'no connection is named betta (config/muster.yaml): did you mean beta? The other is acme',
    )
  })
})
