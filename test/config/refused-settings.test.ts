/** Settings that are wrong: every problem by its line and in its words. */
import { describe, expect, test } from 'vitest'
import { acme, DUCKDB, KEY, load, messageOf } from './written-settings.ts'

describe('a file', () => {
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
    ...['retentionDays', 'piiHistoryDays', 'inboxDays', 'quarantineDays'].map(name => [
      `a ${name} that counts to before there were dates`,
      acme(KEY, DUCKDB, `${name}: 99999999999999`),
      `line 6: connections.acme.${name} must be at most 36525`,
    ]),
    [
      'a misspelt resource of a schema policy',
      acme(KEY, DUCKDB, 'schemaPolicy: { timesheet: freeze }'),
      'line 6: connections.acme.schemaPolicy.timesheet is no resource: did you mean timesheets?',
    ],
    [
      'a misspelt schema policy',
      acme(KEY, DUCKDB, 'schemaPolicy: { timesheets: freze }'),
      'line 6: connections.acme.schemaPolicy.timesheets must be evolve, warn or freeze, did you mean freeze?',
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
      'line 4: connections.acme.apiKeyFile names nowhere, which is not there',
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
      'line 6: connections.acme.reportingZone must be the IANA name of a time zone, such as Europe/London or Pacific/Auckland',
    ],
    [
      'a day that is none',
      acme(KEY, DUCKDB, 'plausibleDates: { from: 2026-02-30 }'),
      'line 6: connections.acme.plausibleDates.from must be a day from 1970-01-01 to 2199-12-31, such as 2000-01-01',
    ],
    [
      'a range that ends before it begins',
      acme(KEY, DUCKDB, 'plausibleDates: { to: 1999-12-31 }'),
      'line 6: connections.acme.plausibleDates must end after it begins',
    ],
    ['text for a group', 'connections: acme', 'line 1: connections must be a group of settings'],
    ['no connection', 'connections: {}', 'line 1: connections is empty: add one, as `muster init` does'],
    [
      'an odd name',
      acme(KEY, DUCKDB).replace('acme:', 'a/b:'),
      'line 2: connection name a/b: use letters, digits, _ and -',
    ],
    ['an empty file', '', 'line 1: the file is empty'],
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
