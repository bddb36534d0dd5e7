/** Settings read from a file: defaults, variables, and the one file that is meant. */
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { connectionNamed, loadSettings } from '../../src/config/settings.ts'
import { UsageError } from '../../src/lib/errors.ts'
import { acme, DUCKDB, ENV, folder, KEY, load, messageOf } from './written-settings.ts'

describe('a file', () => {
  test('gives a connection with its defaults', () => {
    const { settings, cwd } = load(acme(KEY, DUCKDB))
    const connection = connectionNamed(settings)
    expect({ ...connection, apiKey: connection.apiKey.reveal() }).toEqual({
      name: 'acme',
      proxies: {},
      baseUrl: 'https://api.example.com/api/open/v1',
      apiKey: ENV.KEY,
      warehouse: { kind: 'file', file: join(cwd, 'data/acme.duckdb') },
      landing: join(cwd, 'data/acme.landing'),
      retentionDays: 90,
      inboxDays: 90,
      inboxEvents: 1_000_000,
      inboxMegabytes: 512,
      quarantineDays: 90,
      lookbackMinutes: 15,
      pageCapMegabytes: 32,
      quarantineRecords: 20,
      recordMegabytes: 16,
      recordDepth: 2000,
      recordFields: 20_000,
      undeclaredPaths: 20_000,
      reserveMegabytes: 256,
      quarantinePercent: 1,
      queries: { seconds: 120, memoryMegabytes: 1024, answerMegabytes: 16, threads: 2 },
      days: { zone: 'Europe/London', firstDay: '2000-01-01', lastDay: '2049-12-31' },
      fiscalYearStart: 4,
      alerts: [],
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
    expect(warehouse.kind === 'server' && [warehouse.url.reveal(), warehouse.shown]).toEqual([
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

  test('names a folder or a bucket for pages, and no bucket twice', () => {
    const landing = (text: string, env = ENV) =>
      connectionNamed(load(acme(KEY, DUCKDB, `landing: ${text}`), env).settings)
    const { bucket, landing: beside } = landing('s3://data-1/muster//acme/')
    expect(bucket).toEqual({
      url: 's3://data-1/muster/acme',
      bucket: 'data-1',
      prefix: 'muster/acme/',
      isOther: false,
    })
    expect(beside).toMatch(/data\/acme\.landing$/)
    const other = { ...ENV, AWS_ENDPOINT_URL: 'http://127.0.0.1:9000' }
    expect(landing('s3://data-1', other).bucket).toMatchObject({
      url: 's3://data-1',
      prefix: '',
      isOther: true,
    })
    const kmsKey = 'arn:aws:kms:eu-west-2:123456789012:key/4f1c'
    expect(landing(`s3://data-1\n    landingKmsKey: ${kmsKey}`).bucket).toMatchObject({ kmsKey })
    expect(messageOf(() => landing(`folder\n    landingKmsKey: ${kmsKey}`))).toContain(
      'landingKmsKey is for a bucket only: remove it',
    )
    for (const wrong of [
      's3://',
      's3:data',
      's3:///prefix',
      's3://A_b/x',
      'S3://data/x',
      's3://data/../x',
      's3://d',
    ])
      expect(messageOf(() => landing(wrong))).toBe(
        'config/muster.yaml is wrong: line 6: connections.acme.landing must be s3://BUCKET or s3://BUCKET/PREFIX, or a folder',
      )
    const beta = acme(KEY, DUCKDB.replace('acme', 'beta'), 'landing: s3://data/x/').split('\n').slice(2)
    const both = [acme(KEY, DUCKDB, 'landing: s3://data/x'), '  beta:', ...beta].join('\n')
    expect(messageOf(() => load(both))).toContain(
      'acme and beta share a landing: give each a prefix, such as s3://data/x/beta',
    )
  })

  test('does not show what requests to a bucket are signed with', () => {
    const env = { ...ENV, AWS_SECRET_ACCESS_KEY: 'secret-0123456789', AWS_SESSION_TOKEN: 'token-0123456789' }
    const { settings } = load(acme(KEY, DUCKDB, 'landing: s3://data/x'), env)
    expect(settings.secrets.map(secret => secret.reveal())).toEqual(
      expect.arrayContaining([env.AWS_SECRET_ACCESS_KEY, env.AWS_SESSION_TOKEN]),
    )
  })

  test('named on the command line must exist', () => {
    const attempt = () => loadSettings({ configFile: 'other.yaml', env: ENV, cwd: folder() })
    expect(messageOf(attempt)).toBe(
      'other.yaml does not exist: write it with `muster init --config other.yaml`',
    )
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
      'config/muster.yaml has 2 connections: name one with --connection NAME (acme, beta)',
    )
    expect(() => connectionNamed(two(), 'betta')).toThrow(
      'no connection is named betta (config/muster.yaml): did you mean beta? The other is acme',
    )
  })
})
