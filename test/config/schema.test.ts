/** The JSON Schema of the settings takes what the settings take, and names what they do not. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { variables } from '../../src/config/environment.ts'
import { settingsSchema } from '../../src/config/schema.ts'
import { checkShape } from '../../src/config/shape.ts'

const validate = new Ajv({ strict: true, allowUnionTypes: true }).compile(settingsSchema())
const inRepository = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const template = readFileSync(inRepository('config/muster.example.yaml'), 'utf8')

const withSettings = (settings: object) => ({ connections: { acme: settings } })

test('the template is valid, also with every setting that is commented out', () => {
  expect([validate(parse(template)), validate.errors]).toEqual([true, null])
  const whole = template.replace(/^( {4})# ((?: {2})?[a-zA-Z]+:( \S.*)?)$/gm, '$1$2')
  // A file and a secret, and two warehouses: the template shows both ways.
  const settings = parse(whole, { uniqueKeys: false }).connections.acme
  expect(Object.keys(settings)).toEqual(expect.arrayContaining(['apiKeyFile', 'schemaPrefix', 'waitMinutes']))
  expect([validate(withSettings(settings)), validate.errors]).toEqual([true, null])
})

test('its comment lists every variable that stands for a setting', () => {
  const [comment = ''] = template.split('\nconnections:')
  expect([...new Set(comment.match(/MUSTER_[A-Z_]+/g))].sort()).toEqual(Object.values(variables).sort())
})

test('its first line names the schema beside it, which is this one', async () => {
  expect(template.split('\n')[0]).toBe('# yaml-language-server: $schema=muster.schema.json')
  const file = inRepository('config/muster.schema.json')
  await expect(`${JSON.stringify(settingsSchema(), null, 2)}\n`).toMatchFileSnapshot(file)
})

const invented: readonly object[] = [
  { retentionDays: 5 },
  { retentionDays: `\${DAYS}` },
  { retentionDays: 'five' },
  { retentionDays: -1 },
  { retentionDays: 1.5 },
  { retentionDay: 5 },
  { fiscalYearStart: 13 },
  { fiscalYearStart: 12 },
  { quarantinePercent: 0.5 },
  { quarantinePercent: 101 },
  { reportingZone: 'Europe/Paris' },
  { reportingZone: 'Europe/London' },
  { plausibleDates: { from: '2010-01-01' } },
  { plausibleDates: { from: '1.1.2010' } },
  { schemaPrefix: 'pg_x' },
  { schemaPrefix: 'acme_' },
  { baseUrl: 'ftp://x' },
  { baseUrl: 'https://api.example.com' },
  { queries: { seconds: 0 } },
  { queries: { second: 1 } },
  { queries: { threads: 4 } },
  { webhook: { secret: `\${HOOK}`, headerPrefix: 'X Y' } },
  { webhook: { secret: `\${HOOK}`, headerPrefix: 'X-Y' } },
  { waitMinutes: 1441 },
  { landing: 3 },
]

/** What reading the settings finds once each variable has a value that fits. */
const isTaken = (settings: object): boolean => {
  const filled = JSON.parse(JSON.stringify(settings).replaceAll(`\${DAYS}`, '7'))
  return checkShape(withSettings(filled)).problems.length === 0
}

test.each(invented)('it agrees with the reader of settings about %j', settings => {
  expect(validate(withSettings(settings))).toBe(isTaken(settings))
})

test('a key in the file itself is marked, and a default and a description shown', () => {
  expect(validate(withSettings({ apiKey: 'key-0123456789' }))).toBe(false)
  expect(validate(withSettings({ apiKey: `\${KEY}` }))).toBe(true)
  const text = JSON.stringify(settingsSchema())
  expect(text).toContain('"default":90')
  expect(text).not.toContain(String(Number.MAX_SAFE_INTEGER))
})
