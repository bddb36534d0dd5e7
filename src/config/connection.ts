/** One connection: one API key and one warehouse, with all their settings. */

import { join, resolve } from 'node:path'
import { whyNotLocal } from '../lib/input-file.ts'
import type { ProxyVariables } from '../lib/web/proxy.ts'
import { type Environment, proxyVariables } from './environment.ts'
import { type BucketSettings, buildBucket, isBucketUrl } from './groups/bucket.ts'
import { buildTold, type ToldSettings } from './groups/told.ts'
import { type InboxSettings, inboxOf } from './groups/webhook-and-queries.ts'
import type { Secret } from './secret.ts'
import { type Findings, readSecret, reviewMode } from './secret-source.ts'
import type { RawConnection } from './shape.ts'
import { dotted, type Path, type Source } from './source.ts'
import { parseWarehouse, passwordIn, privateKeyIn, type Warehouse } from './warehouse-url.ts'

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

export interface Connection extends ToldSettings, InboxSettings {
  readonly name: string
  readonly proxies: ProxyVariables
  readonly baseUrl: string
  readonly apiKey: Secret
  readonly webhook?: WebhookSettings
  readonly warehouse: Warehouse
  /** Precedes the name of every schema, so that connections can share a PostgreSQL database. */
  readonly schemaPrefix?: string
  /** Absolute path of the folder of landed pages; where they are in a bucket, of what temporary files lie beside. */
  readonly landing: string
  /** Where machines share the landed pages. */
  readonly bucket?: BucketSettings
  /** How long landed pages are kept. */
  readonly retentionDays: number
  /** How long superseded versions of personal data are kept; undefined for ever. */
  readonly piiHistoryDays?: number
  /** How long quarantined records are kept once they were resolved. */
  readonly quarantineDays: number
  /** How far behind its watermark a scan continues, against late commits of the service. */
  readonly lookbackMinutes: number
  /** How long commands wait for a warehouse that another process holds; undefined: a DAG 10 minutes, others not at all. */
  readonly waitMinutes?: number
  /** Larger answers are refused. */
  readonly pageCapMegabytes: number
  /** So many records of a resource may be in quarantine, or so many percent of them if those are more. */
  readonly quarantineRecords: number
  readonly quarantinePercent: number
  /** A record that is larger, deeper, or has more undeclared fields goes to quarantine. */
  readonly recordMegabytes: number
  readonly recordDepth: number
  readonly recordFields: number
  /** So many paths of undeclared fields may the records of a resource have together. */
  readonly undeclaredPaths: number
  /** So much of the disk stays free: with less, nothing that writes begins. */
  readonly reserveMegabytes: number
  /** Zone in which timestamps become dates. */
  readonly reportingZone: string
  /** Currencies of companies by their id. */
  readonly currencies?: Readonly<Record<string, string>>
  /** Currency of companies whose currency nothing else tells. */
  readonly currency?: string
  /** The month, 1 to 12, in which the fiscal year begins. */
  readonly fiscalYearStart: number
  /** What one query of `muster sql` or an assistant may use. */
  readonly queries: QuerySettings
}

/** What is known of a connection whose warehouse is read: an analyst has no key for the service. */
export type StoredConnection = Omit<Connection, 'baseUrl' | 'apiKey' | 'webhook'> & {
  readonly apiKey?: Secret
}

export interface Building {
  readonly source: Source
  readonly env: Environment
  readonly cwd: string
  readonly findings: Findings
}

/** Undefined when something is wrong; then the findings have the problems. */
export function buildConnection(
  name: string,
  raw: RawConnection,
  building: Building,
): Connection | undefined {
  const { findings } = building
  const path = ['connections', name]
  if (raw.baseUrl === undefined) findings.problem([...path, 'baseUrl'], `${dotted(path)}.baseUrl is missing`)
  const webhook = raw.webhook && buildWebhook(raw.webhook, [...path, 'webhook'], building)
  const stored = buildStored(name, raw, building)
  if (!stored?.apiKey || raw.baseUrl === undefined) return undefined
  return { ...stored, baseUrl: raw.baseUrl, apiKey: stored.apiKey, ...(webhook && { webhook }) }
}

/** The part that reading the warehouse needs, and the key where there is one; the caller judges a finding about it. */
export function buildStored(
  name: string,
  raw: RawConnection,
  building: Building,
): StoredConnection | undefined {
  const { cwd, findings } = building
  const path = ['connections', name]
  if (!/^[\w-]+$/.test(name)) findings.problem(path, `connection name ${name}: use letters, digits, _ and -`)
  const place = { ...building, path: [...path, 'apiKey'], filePath: [...path, 'apiKeyFile'] }
  const apiKey = readSecret(place, raw.apiKey, raw.apiKeyFile)
  const told = buildTold(raw, path, building)
  const bucket = bucketIn(raw, path, building)
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
    retentionDays: raw.retentionDays,
    ...(raw.piiHistoryDays !== undefined && { piiHistoryDays: raw.piiHistoryDays }),
    ...inboxOf(raw),
    quarantineDays: raw.quarantineDays,
    lookbackMinutes: raw.lookbackMinutes,
    ...(raw.waitMinutes !== undefined && { waitMinutes: raw.waitMinutes }),
    pageCapMegabytes: raw.pageCapMegabytes,
    quarantineRecords: raw.quarantineRecords,
    quarantinePercent: raw.quarantinePercent,
    recordMegabytes: raw.recordMegabytes,
    recordDepth: raw.recordDepth,
    recordFields: raw.recordFields,
    undeclaredPaths: raw.undeclaredPaths,
    reserveMegabytes: raw.reserveMegabytes,
    reportingZone: raw.reportingZone,
    ...(raw.currencies !== undefined && { currencies: raw.currencies }),
    ...(raw.currency !== undefined && { currency: raw.currency }),
    fiscalYearStart: raw.fiscalYearStart,
    queries: raw.queries,
    ...told,
  }
}

function buildWebhook(
  raw: NonNullable<RawConnection['webhook']>,
  path: Path,
  building: Building,
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

function buildWarehouse(raw: RawConnection, connection: Path, building: Building) {
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
  path: Path,
  { findings, env }: Building,
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

function besideWarehouse(warehouse: Warehouse, name: string): string {
  if (warehouse.kind === 'server') return join('data', 'landing', name)
  return `${warehouse.file.replace(/\.duckdb$/, '')}.landing`
}
