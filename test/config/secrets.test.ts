/** Secrets of settings: where they may come from, and that nothing shows them. */
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { connectionNamed } from '../../src/config/settings.ts'
import { acme, DUCKDB, ENV, folder, KEY, load } from './written-settings.ts'

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

  test.each([
    [0o600, undefined],
    [0o400, undefined],
    [0o440, 'key can be read by its group (mode 0440): chmod 600 key'],
    [0o640, 'key can be read by its group (mode 0640): chmod 600 key'],
    [0o620, 'key can be changed by its group (mode 0620): chmod 600 key'],
    [0o602, 'key can be changed by every user of this machine: chmod 600 key'],
  ])('in a file of mode %o are remarked by doctor alone, unless every user can read them', (mode, remark) => {
    const cwd = folder()
    writeFileSync(join(cwd, 'key'), 'c'.repeat(64))
    chmodSync(join(cwd, 'key'), mode)
    const files = [
      acme('apiKeyFile: key', DUCKDB),
      acme(KEY, DUCKDB, 'webhook: { secretFile: key }'),
      acme(KEY, DUCKDB, `webhook: { secret: \${HOOK}, previousSecretFile: key }`),
      acme(KEY, DUCKDB, 'notify: { url: "https://x.example", tokenFile: key }'),
      acme(KEY, 'warehouse: postgres://me@db/x?sslkey=key'),
    ]
    for (const file of files) {
      const { warnings, remarks } = load(file, ENV, cwd).settings
      expect(warnings).toEqual([])
      expect(remarks.map(text => text.replace(/^.*?: /, ''))).toEqual(remark === undefined ? [] : [remark])
    }
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
