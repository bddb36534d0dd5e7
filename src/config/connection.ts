/** Builds a connection: one API key and one warehouse, with all their settings. */

import { join, resolve } from 'node:path'
import type { DayRule } from '../lib/day-rule.ts'
import { whyNotLocal } from '../lib/input-file.ts'
import type { ProxyVariables } from '../lib/web/proxy.ts'
import { type AlertSettings, alertsOf } from './alerts.ts'
import { type BucketSettings, buildBucket, isBucketUrl } from './bucket.ts'
import { type Environment, proxyVariables } from './environment.ts'
import { buildFields, type FieldPolicySettings, type SchemaPolicies } from './fields.ts'
import { buildNotifications, type NotificationSettings } from './messages.ts'
import { readSecret, reviewMode, type Secret, type SettingsFindings } from './secrets.ts'
import type { RawConnection } from './shape.ts'
import { dotted, type SettingsPath, type SettingsSource } from './source.ts'
import { parseWarehouse, passwordIn, privateKeyIn, type Warehouse } from './warehouse-url.ts'
import { type InboxSettings, inboxOf } from './webhook-and-queries.ts'

export interface WebhookSettings {
  readonly secret: Secret
  readonly previousSecret?: Secret
  /** The beginning of the service's header names. */
  readonly headerPrefix: string
}

interface QuerySettings {
  readonly seconds: number
  readonly memoryMegabytes: number
  readonly answerMegabytes: number
  readonly threads: number
}

export interface LakeSettings {
  /** Absolute path, or the address of a bucket. */
  readonly address: string
  readonly bucket?: BucketSettings
  readonly retentionDays: number
  /** Whether the tables of pii are written to a second lake. */
  readonly pii: boolean
}

export interface Connection extends NotificationSettings, InboxSettings {
  readonly name: string
  readonly proxies: ProxyVariables
  readonly baseUrl: string
  readonly apiKey: Secret
  readonly webhook?: WebhookSettings
  readonly warehouse: Warehouse
  /** Precedes the name of every schema, so that connections can share a PostgreSQL database. */
  readonly schemaPrefix?: string
  /** Absolute path of the folder of landed pages, or of temporary files if the pages are in a bucket. */
  readonly landing: string
  /** Bucket with landed pages that several machines share. */
  readonly bucket?: BucketSettings
  /** The lake that the warehouse is published to. */
  readonly lake?: LakeSettings
  /** How long landed pages are kept. */
  readonly retentionDays: number
  /** How long superseded versions of personal data are kept; undefined for ever. */
  readonly piiHistoryDays?: number
  /** How long resolved quarantined records are kept. */
  readonly quarantineDays: number
  /** How far behind its watermark a scan continues, against late commits of the service. */
  readonly lookbackMinutes: number
  /** How long commands wait for a warehouse that another process has locked; undefined: 10 for a DAG, 0 for others. */
  readonly waitMinutes?: number
  /** Larger answers are refused. */
  readonly pageCapMegabytes: number
  /** Maximum quarantined records of a resource: this number or this percentage, whichever is more. */
  readonly quarantineRecords: number
  readonly quarantinePercent: number
  /** A record that is larger, deeper, or has more undeclared fields goes to quarantine. */
  readonly recordMegabytes: number
  readonly recordDepth: number
  readonly recordFields: number
  /** Maximum distinct paths of undeclared fields in all records of a resource. */
  readonly undeclaredPaths: number
  /** Disk space that stays free: with less, no writing command starts. */
  readonly reserveMegabytes: number
  /** How timestamps become days: `reportingZone` and `plausibleDates`. */
  readonly days: DayRule
  /** Currencies of companies by their id. */
  readonly currencies?: Readonly<Record<string, string>>
  /** Currency of companies whose currency is unknown otherwise. */
  readonly currency?: string
  /** The month, 1 to 12, in which the fiscal year begins. */
  readonly fiscalYearStart: number
  /** Limits of one query of `muster sql` or an assistant. */
  readonly queries: QuerySettings
  /** Evaluated after each build. */
  readonly alerts: readonly AlertSettings[]
  /** Which fields are blocked or hashed before they are stored. */
  readonly fields?: FieldPolicySettings
  /** What a run does about fields and values outside the contract, by resource. */
  readonly schemaPolicy?: SchemaPolicies
}

/** A connection for reading the warehouse: an analyst has no key for the service. */
export type StoredConnection = Omit<Connection, 'baseUrl' | 'apiKey' | 'webhook'> & {
  readonly apiKey?: Secret
}

export interface BuildContext {
  readonly source: SettingsSource
  readonly env: Environment
  readonly cwd: string
  readonly findings: SettingsFindings
}

/** Undefined if a setting is invalid; the findings then have the problems. */
export function buildConnection(
  name: string,
  raw: RawConnection,
  building: BuildContext,
): Connection | undefined {
  const { findings } = building
  const path = ['connections', name]
  if (raw.baseUrl === undefined) findings.problem([...path, 'baseUrl'], `${dotted(path)}.baseUrl is missing`)
  const webhook = raw.webhook && buildWebhook(raw.webhook, [...path, 'webhook'], building)
  const stored = buildStored(name, raw, building)
  if (!stored?.apiKey || raw.baseUrl === undefined) return undefined
  return { ...stored, baseUrl: raw.baseUrl, apiKey: stored.apiKey, ...(webhook && { webhook }) }
}

const daysOf = ({ reportingZone, plausibleDates: { from, to } }: RawConnection): DayRule => ({
  zone: reportingZone,
  firstDay: from,
  lastDay: to,
})

const sizesOf = (raw: RawConnection) => ({
  pageCapMegabytes: raw.pageCapMegabytes,
  quarantineRecords: raw.quarantineRecords,
  quarantinePercent: raw.quarantinePercent,
  recordMegabytes: raw.recordMegabytes,
  recordDepth: raw.recordDepth,
  recordFields: raw.recordFields,
  undeclaredPaths: raw.undeclaredPaths,
  reserveMegabytes: raw.reserveMegabytes,
})

/** Builds what reading the warehouse needs, and the key if there is one; the caller decides whether a missing key matters. */
export function buildStored(
  name: string,
  raw: RawConnection,
  building: BuildContext,
): StoredConnection | undefined {
  const { cwd, findings } = building
  const path = ['connections', name]
  if (!/^[\w-]+$/.test(name)) findings.problem(path, `connection name ${name}: use letters, digits, _ and -`)
  const place = { ...building, path: [...path, 'apiKey'], filePath: [...path, 'apiKeyFile'] }
  const apiKey = readSecret(place, raw.apiKey, raw.apiKeyFile)
  const notifications = buildNotifications(raw, path, building)
  const bucket = bucketIn(raw, path, building)
  const fieldPolicy = buildFields(raw, path, building)
  const lake = lakeIn(raw, path, building)
  const warehouse = buildWarehouse(raw, path, building)
  if (!warehouse) return undefined
  return {
    name,
    proxies: proxyVariables(building.env),
    ...(apiKey && { apiKey }),
    warehouse,
    ...(raw.schemaPrefix !== undefined && { schemaPrefix: raw.schemaPrefix }),
    landing: resolve(cwd, folderIn(raw) ?? besideWarehouse(warehouse, name)),
    ...(bucket && { bucket }),
    ...(lake && { lake }),
    retentionDays: raw.retentionDays,
    ...(raw.piiHistoryDays !== undefined && { piiHistoryDays: raw.piiHistoryDays }),
    ...inboxOf(raw),
    quarantineDays: raw.quarantineDays,
    lookbackMinutes: raw.lookbackMinutes,
    ...(raw.waitMinutes !== undefined && { waitMinutes: raw.waitMinutes }),
    ...sizesOf(raw),
    days: daysOf(raw),
    ...(raw.currencies !== undefined && { currencies: raw.currencies }),
    ...(raw.currency !== undefined && { currency: raw.currency }),
    fiscalYearStart: raw.fiscalYearStart,
    queries: raw.queries,
    alerts: alertsOf(raw.alerts),
    ...(fieldPolicy && { fields: fieldPolicy }),
    ...(raw.schemaPolicy && { schemaPolicy: raw.schemaPolicy }),
    ...notifications,
  }
}

function buildWebhook(
  raw: NonNullable<RawConnection['webhook']>,
  path: SettingsPath,
  building: BuildContext,
): WebhookSettings | undefined {
  const place = (name: string) => ({
    ...building,
    path: [...path, name],
    filePath: [...path, `${name}File`],
  })
  const secret = readSecret(place('secret'), raw.secret, raw.secretFile)
  const hasPrevious = raw.previousSecret !== undefined || raw.previousSecretFile !== undefined
  const previousSecret = hasPrevious
    ? readSecret(place('previousSecret'), raw.previousSecret, raw.previousSecretFile)
    : undefined
  return secret && { secret, ...(previousSecret && { previousSecret }), headerPrefix: raw.headerPrefix }
}

function buildWarehouse(raw: RawConnection, connection: SettingsPath, building: BuildContext) {
  const { source, cwd, findings } = building
  const path = [...connection, 'warehouse']
  const warehouse = parseWarehouse(raw.warehouse ?? '', cwd)
  if (raw.warehouse === undefined) {
    findings.problem(path, `${dotted(path)} is missing`)
  } else if (!warehouse) {
    findings.problem(path, `${dotted(path)} must be duckdb:FILE or postgres://USER@HOST:PORT/DATABASE`)
  } else if (warehouse.kind === 'server') {
    if (passwordIn(raw.warehouse) !== undefined && source.variablesOf(path).length === 0) {
      findings.warning(path, `${dotted(path)} holds a password: write \${VARIABLE} instead`)
    }
    const sslKey = privateKeyIn(warehouse.url.reveal())
    if (sslKey !== undefined) reviewMode(building, path, sslKey)
  } else if (raw.schemaPrefix !== undefined) {
    findings.problem([...connection, 'schemaPrefix'], 'schemaPrefix is for PostgreSQL only: remove it')
  }
  return warehouse
}

const folderIn = ({ landing }: RawConnection): string | undefined =>
  landing === undefined || isBucketUrl(landing) ? undefined : landing

function bucketIn(
  { landing, landingKmsKey: kmsKey }: RawConnection,
  path: SettingsPath,
  { findings, env }: BuildContext,
): BucketSettings | undefined {
  const where = [...path, 'landing']
  if (landing === undefined || !isBucketUrl(landing)) {
    if (kmsKey !== undefined)
      findings.problem([...path, 'landingKmsKey'], 'landingKmsKey is for a bucket only: remove it')
    const why = landing && whyNotLocal(landing)
    if (why !== undefined) findings.problem(where, `${dotted(where)}: ${why}`)
    return undefined
  }
  const bucket = buildBucket(landing, env)
  if (!bucket)
    findings.problem(where, `${dotted(where)} must be s3://BUCKET or s3://BUCKET/PREFIX, or a folder`)
  return bucket && { ...bucket, ...(kmsKey !== undefined && { kmsKey }) }
}

function lakeIn(
  { lake, lakeRetentionDays: retentionDays, lakePii: pii }: RawConnection,
  path: SettingsPath,
  { cwd, findings, env }: BuildContext,
): LakeSettings | undefined {
  const where = [...path, 'lake']
  if (lake === undefined) {
    if (pii) findings.problem([...path, 'lakePii'], 'lakePii needs lake: set it, or remove lakePii')
    return undefined
  }
  if (!isBucketUrl(lake)) {
    const why = whyNotLocal(lake)
    if (why !== undefined) findings.problem(where, `${dotted(where)}: ${why}`)
    return { address: resolve(cwd, lake), retentionDays, pii }
  }
  const bucket = buildBucket(lake, env)
  if (bucket && (bucket.prefix !== '' || !pii)) return { address: bucket.url, bucket, retentionDays, pii }
  findings.problem(
    where,
    bucket
      ? `${dotted(where)} needs a prefix with lakePii, as in ${bucket.url}/muster`
      : `${dotted(where)} must be s3://BUCKET or s3://BUCKET/PREFIX, or a folder`,
  )
  return undefined
}

/** The second lake, which has personal data, beside the first. */
export function piiLakeOf(lake: LakeSettings): LakeSettings {
  const address = `${lake.address}-pii`
  const { bucket } = lake
  return {
    ...lake,
    address,
    ...(bucket && { bucket: { ...bucket, url: address, prefix: bucket.prefix.replace(/\/$/, '-pii/') } }),
  }
}

function besideWarehouse(warehouse: Warehouse, name: string): string {
  if (warehouse.kind === 'server') return join('data', 'landing', name)
  return `${warehouse.file.replace(/\.duckdb$/, '')}.landing`
}
