/** Declares the keys of the settings, with their types and defaults. */
import * as z from 'zod'
import { isDay } from '../lib/dates.ts'
import { defaultDays, plausibleBounds } from '../lib/day-rule.ts'
import { didYouMean } from '../lib/text/nearest.ts'
import { defaultZone, isNamedZone } from '../lib/zones.ts'
import { alertKeys, alerts } from './alerts.ts'
import { fields, schemaPolicy } from './fields.ts'
import { lineage } from './messages.ts'
import { notify, typeNames } from './notify.ts'
import { dotted, type SettingsPath, type SettingsProblem } from './source.ts'
import { integer, isHttp } from './values.ts'
import { queries, webhook } from './webhook-and-queries.ts'

/** From 0 to 100, with decimals; numbers from an environment variable arrive as text. */
const percent: z.ZodType<number> = z.preprocess(
  (value: unknown) => (typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value),
  z.number('must be a number').min(0, 'must be at least 0').max(100, 'must be at most 100'),
)

const currencies = new Set(Intl.supportedValuesOf('currency'))
const isCurrency = (text: string): boolean => currencies.has(text)
/** A hundred years, so that now minus this many days is still a valid date. */
const maxDays = 36_525

/** YYYY-MM-DD. */
const plausibleDay = z
  .string()
  .refine(
    text => isDay(text) && text >= plausibleBounds.firstDay && text <= plausibleBounds.lastDay,
    `must be a day from ${plausibleBounds.firstDay} to ${plausibleBounds.lastDay}, such as ${defaultDays.firstDay}`,
  )
  .meta({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' })

const currencyRule = 'must be the ISO 4217 code of a currency, such as GBP or EUR'

/** Everything is optional here, so that all problems are reported at once; required settings are checked when they are used. */
const connection = z.strictObject({
  baseUrl: z
    .string()
    .refine(isHttp, 'must be an address, as in https://api.example.com/api/open/v1')
    .meta({ pattern: '^https?://' })
    .optional()
    .describe('Address of the service, with its version and without a trailing slash.'),
  apiKey: z
    .string()
    .meta({ pattern: '^file:' })
    .optional()
    .describe('The API key: a variable in braces after a $, or file:NAME. Never write the key itself here.'),
  apiKeyFile: z.string().optional().describe('A file with the API key, which only you can read.'),
  webhook: webhook.optional(),
  notify: notify.optional(),
  alerts: alerts.optional(),
  lineage: lineage.optional(),
  queries: queries.prefault({}),
  fields: fields.optional(),
  fieldKey: z
    .string()
    .meta({ pattern: '^file:' })
    .optional()
    .describe('Key of hashed fields: a variable in braces after a $, or file:NAME.'),
  fieldKeyFile: z.string().optional().describe('A file with that key.'),
  schemaPolicy: schemaPolicy.optional(),
  warehouse: z
    .string()
    .meta({ pattern: '^(duckdb:.|postgres(ql)?://)' })
    .optional()
    .describe(
      'duckdb:FILE or postgres://USER@HOST:PORT/DATABASE; a password comes from a variable or ~/.pgpass.',
    ),
  schemaPrefix: z
    .string()
    .regex(
      /^(?!pg_)[a-z][a-z0-9_]{0,39}$/,
      'must be lower case letters, digits and _, at most 40, beginning with a letter and not with pg_',
    )
    .optional()
    .describe(
      'PostgreSQL only: precedes the name of every schema, so that connections can share a database.',
    ),
  landing: z
    .string()
    .min(1, 'must name a folder or s3://BUCKET/PREFIX')
    .optional()
    .describe(
      'Folder of landed pages, by default beside the DuckDB file, or data/landing/NAME; s3://BUCKET/PREFIX if machines share them.',
    ),
  landingKmsKey: z
    .string()
    .min(1, 'must name a key of AWS KMS')
    .optional()
    .describe('The key of AWS KMS, by its ARN, with which the bucket encrypts landed pages.'),
  lake: z
    .string()
    .min(1, 'must name a folder or s3://BUCKET/PREFIX')
    .optional()
    .describe(
      'Folder or s3://BUCKET/PREFIX of the Delta tables that muster lake publish writes; connections share one.',
    ),
  lakeRetentionDays: integer(1, maxDays)
    .default(30)
    .describe('Days to keep earlier versions of the tables in the lake.'),
  lakePii: z
    .preprocess(
      value => (value === 'true' || value === 'false' ? value === 'true' : value),
      z.boolean('must be true or false'),
    )
    .default(false)
    .describe('Also write the tables of pii, to a second lake whose address ends in -pii.'),
  retentionDays: integer(0, maxDays)
    .default(90)
    .describe('Days to keep landed pages, from which `muster replay` rebuilds.'),
  piiHistoryDays: integer(1, maxDays)
    .optional()
    .describe('Days to keep superseded versions of personal data; without this, for ever.'),
  inboxDays: integer(1, maxDays).default(90).describe('Days to keep webhook events once they are processed.'),
  inboxEvents: integer(1, 100_000_000)
    .default(1_000_000)
    .describe('Maximum webhook events that are stored; senders deliver further ones again later.'),
  inboxMegabytes: integer(1, 1_000_000)
    .default(512)
    .describe('Maximum megabytes of webhook events that are stored.'),
  quarantineDays: integer(1, maxDays)
    .default(90)
    .describe('Days to keep quarantined records once a later version was loaded.'),
  lookbackMinutes: integer(0, 1440 * maxDays)
    .default(15)
    .describe('Minutes that a sync reads back behind the previous one.'),
  waitMinutes: integer(0, 1440)
    .optional()
    .describe('Minutes to wait for a warehouse that another process has locked; a DAG waits 10 by default.'),
  pageCapMegabytes: integer(1).default(32).describe('Larger answers of the service are refused.'),
  quarantineRecords: integer(0)
    .default(20)
    .describe('Maximum quarantined records of a resource; with more, a sync ends with exit code 3.'),
  quarantinePercent: percent
    .default(1)
    .describe('The same limit as a percentage of its records, if that allows more than quarantineRecords.'),
  recordMegabytes: integer(1).default(16).describe('A larger record goes to quarantine.'),
  recordDepth: integer(8).default(2000).describe('A record that nests deeper goes to quarantine.'),
  recordFields: integer(1)
    .default(20_000)
    .describe('A record with more undeclared fields goes to quarantine.'),
  undeclaredPaths: integer(0)
    .default(20_000)
    .describe('Maximum distinct paths of undeclared fields in all records of a resource.'),
  reserveMegabytes: integer(0)
    .default(256)
    .describe('Megabytes of disk that stay free; with less, no command that writes starts.'),
  reportingZone: z
    .string()
    .refine(isNamedZone, 'must be the IANA name of a time zone, such as Europe/London or Pacific/Auckland')
    .default(defaultZone)
    .describe('Time zone, by its IANA name, in which timestamps become days.'),
  plausibleDates: z
    .strictObject({
      from: plausibleDay.default(defaultDays.firstDay).describe('First plausible day.'),
      to: plausibleDay.default(defaultDays.lastDay).describe('Last plausible day.'),
    })
    .refine(({ from, to }) => from <= to, 'must end after it begins')
    .prefault({})
    .describe('Dates outside of these days count as typing errors: muster check names their records.'),
  currency: z
    .string()
    .refine(isCurrency, currencyRule)
    .meta({ pattern: '^[A-Z]{3}$' })
    .describe(
      'Currency of companies for which neither currencies nor the country of their address gives one.',
    )
    .optional(),
  currencies: z
    .record(z.string(), z.string().refine(isCurrency, currencyRule))
    .describe('Currencies of companies by their id, such as GBP or EUR.')
    .optional(),
  fiscalYearStart: integer(1, 12)
    .default(4)
    .describe('Month in which the fiscal year of mart.dim_date begins.'),
})

const settings = z.strictObject({
  connections: z
    .record(z.string(), connection)
    .describe('Connections by name; each is one API key and one warehouse.'),
})

/** The declared settings, for what is derived from them; the groups are those within a connection. */
export const declared = { settings, connection, groups: { webhook, notify, lineage, queries } }

export type RawConnection = z.infer<typeof connection>
export type RawSettings = z.infer<typeof settings>

/** Known keys by depth: the root, (names of connections are free), a connection, its groups, groups in these. */
const keysByDepth: readonly (readonly string[])[] = [
  Object.keys(settings.shape),
  [],
  Object.keys(connection.shape),
  Object.values(declared.groups).flatMap(({ shape }) => Object.keys(shape)),
  [...typeNames, ...alertKeys],
]

/** If there are problems, `settings` has only the valid values. */
export function checkShape(tree: unknown): { settings?: RawSettings; problems: readonly SettingsProblem[] } {
  const result = settings.safeParse(tree)
  if (result.success) return { settings: result.data, problems: [] }
  const problems = result.error.issues.flatMap(issue => asProblems(issue, tree))
  const rest = structuredClone(tree)
  for (const { path } of problems) remove(rest, path)
  const { data } = settings.safeParse(rest)
  return { ...(data && { settings: data }), problems }
}

function remove(tree: unknown, path: SettingsPath): void {
  const parent = valueAt(tree, path.slice(0, -1))
  const last = path.at(-1)
  if (typeof parent === 'object' && parent !== null && last !== undefined)
    Reflect.deleteProperty(parent, last)
}

function asProblems(issue: z.core.$ZodIssue, tree: unknown): readonly SettingsProblem[] {
  const path = issue.path.map(step => (typeof step === 'number' ? step : String(step)))
  if (issue.code === 'unrecognized_keys') return issue.keys.map(key => unknownKey(path, key))
  const value = valueAt(tree, path)
  if (path.length === 0 && (value === undefined || value === null))
    return [{ path, text: 'the file is empty' }]
  return [{ path, text: `${dotted(path) || 'the file'} ${textOf(issue, value)}` }]
}

function textOf(issue: z.core.$ZodIssue, value: unknown): string {
  if (issue.code !== 'invalid_type') return issue.message
  if (value === undefined || value === null) return 'is missing'
  if (issue.expected === 'object' || issue.expected === 'record') return 'must be a group of settings'
  return issue.expected === 'string' ? 'must be text' : issue.message
}

function unknownKey(path: SettingsPath, key: string): SettingsProblem {
  const place = path.length > 0 ? ` in ${dotted(path)}` : ''
  const advice = didYouMean(key, keysByDepth[path.length] ?? [])
  return { path: [...path, key], text: `unknown key ${key}${place}${advice}` }
}

function valueAt(tree: unknown, path: SettingsPath): unknown {
  let value: unknown = tree
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = Object.getOwnPropertyDescriptor(value, step)?.value
  }
  return value
}
