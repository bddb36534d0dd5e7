/** The one connection that a few variables make where there is no file. */
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Environment } from '../../src/config/environment.ts'
import { connectionNamed, loadSettings } from '../../src/config/settings.ts'
import { folder, messageOf } from './written-settings.ts'

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
      warehouse: { kind: 'file', file: join(cwd, 'data/muster.duckdb') },
      landing: join(cwd, 'data/muster.landing'),
      retentionDays: 90,
      inboxDays: 90,
      quarantineDays: 90,
    })
  })

  test('the others are read as well', () => {
    const { settings, cwd } = load({
      ...BASE,
      MUSTER_WAREHOUSE: 'postgresql://me:secret@db/x',
      MUSTER_LANDING: 'pages',
      MUSTER_QUARANTINE_RECORDS: '5',
      MUSTER_QUARANTINE_PERCENT: '0.5',
      MUSTER_RECORD_MEGABYTES: '2',
      MUSTER_RECORD_DEPTH: '50',
      MUSTER_RECORD_FIELDS: '60',
      MUSTER_UNDECLARED_PATHS: '70',
      MUSTER_RESERVE_MEGABYTES: '80',
      MUSTER_WEBHOOK_SECRET: 'hook',
      MUSTER_WEBHOOK_PREVIOUS_SECRET: 'older hook',
    })
    const { warehouse, landing, webhook, ...rest } = connectionNamed(settings)
    expect(rest).toMatchObject({ quarantineRecords: 5, quarantinePercent: 0.5 })
    expect(rest).toMatchObject({ recordMegabytes: 2, recordDepth: 50, recordFields: 60, undeclaredPaths: 70 })
    expect(rest.reserveMegabytes).toBe(80)
    const hooks = [webhook?.secret.reveal(), webhook?.previousSecret?.reveal()]
    expect([warehouse.kind, landing, ...hooks]).toEqual(['server', join(cwd, 'pages'), 'hook', 'older hook'])
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
