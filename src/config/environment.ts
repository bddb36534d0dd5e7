/** Reads the process environment; all other code gets its values passed in. */

import type { ProxyVariables } from '../lib/web/proxy.ts'
import { dotted, type SettingsSource } from './source.ts'

/** Names and values of environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>

export function readEnvironment(): Environment {
  return { ...process.env }
}

/** The value of a variable. An empty one counts as not set, because schedulers write `NAME=`. */
export function variable(env: Environment, name: string): string | undefined {
  return env[name] || undefined
}

/** Prefers the lower-case names, as most programs do. */
export function proxyVariables(env: Environment): ProxyVariables {
  const found = (['http', 'https', 'no'] as const).map(name => {
    const variableName = `${name}_proxy`
    return [name, variable(env, variableName) ?? variable(env, variableName.toUpperCase())] as const
  })
  return Object.fromEntries(found.filter(([, value]) => value !== undefined))
}

/** Whether Node should stop checking certificates; Muster checks them on every connection. */
export const wantsUncheckedTls = (env: Environment): boolean => env.NODE_TLS_REJECT_UNAUTHORIZED === '0'

/** Variables that replace a settings file, by the setting that each one sets. */
export const variables: Readonly<Record<string, string>> = {
  'connections.default.baseUrl': 'MUSTER_BASE_URL',
  'connections.default.apiKey': 'MUSTER_API_KEY',
  'connections.default.warehouse': 'MUSTER_WAREHOUSE',
  'connections.default.schemaPrefix': 'MUSTER_SCHEMA_PREFIX',
  'connections.default.landing': 'MUSTER_LANDING',
  'connections.default.landingKmsKey': 'MUSTER_LANDING_KMS_KEY',
  'connections.default.lake': 'MUSTER_LAKE',
  'connections.default.lakeRetentionDays': 'MUSTER_LAKE_RETENTION_DAYS',
  'connections.default.lakePii': 'MUSTER_LAKE_PII',
  'connections.default.quarantineRecords': 'MUSTER_QUARANTINE_RECORDS',
  'connections.default.quarantinePercent': 'MUSTER_QUARANTINE_PERCENT',
  'connections.default.queries.seconds': 'MUSTER_QUERY_SECONDS',
  'connections.default.queries.memoryMegabytes': 'MUSTER_QUERY_MEMORY_MEGABYTES',
  'connections.default.recordMegabytes': 'MUSTER_RECORD_MEGABYTES',
  'connections.default.recordDepth': 'MUSTER_RECORD_DEPTH',
  'connections.default.recordFields': 'MUSTER_RECORD_FIELDS',
  'connections.default.undeclaredPaths': 'MUSTER_UNDECLARED_PATHS',
  'connections.default.reserveMegabytes': 'MUSTER_RESERVE_MEGABYTES',
  'connections.default.webhook.secret': 'MUSTER_WEBHOOK_SECRET',
  'connections.default.webhook.previousSecret': 'MUSTER_WEBHOOK_PREVIOUS_SECRET',
}

const places = ['schemaPrefix', 'landing', 'landingKmsKey', 'lake', 'lakeRetentionDays', 'lakePii']

const limits = [
  'quarantineRecords',
  'quarantinePercent',
  'recordMegabytes',
  'recordDepth',
  'recordFields',
  'undeclaredPaths',
  'reserveMegabytes',
]

/** Values of these settings from variables that are set. */
function settingsIn(env: Environment, names: readonly string[]): Record<string, string> {
  const found = names.map(name => [name, variable(env, variables[`connections.default.${name}`] ?? '')])
  return Object.fromEntries(found.filter(([, value]) => value !== undefined))
}

const defaultWarehouse = 'duckdb:data/muster.duckdb'

/** Names of the variables that replace a settings file. */
export const settingVariables: readonly string[] = Object.values(variables)

/**
 * The settings of one connection named `default`, from variables instead of a file. Undefined unless a variable names a service
 * or a key; for reading, a warehouse is enough.
 */
export function environmentSource(
  env: Environment,
  needs: 'key' | 'warehouse' = 'key',
): SettingsSource | undefined {
  const baseUrl = variable(env, 'MUSTER_BASE_URL')
  const apiKey = variable(env, 'MUSTER_API_KEY')
  const isEnough = needs === 'warehouse' && variable(env, 'MUSTER_WAREHOUSE') !== undefined
  if (baseUrl === undefined && apiKey === undefined && !isEnough) return undefined
  const secret = variable(env, 'MUSTER_WEBHOOK_SECRET')
  const previousSecret = variable(env, 'MUSTER_WEBHOOK_PREVIOUS_SECRET')
  const seconds = variable(env, 'MUSTER_QUERY_SECONDS')
  const memoryMegabytes = variable(env, 'MUSTER_QUERY_MEMORY_MEGABYTES')
  const connection = {
    ...(baseUrl && { baseUrl }),
    ...(apiKey && { apiKey }),
    warehouse: variable(env, 'MUSTER_WAREHOUSE') ?? defaultWarehouse,
    ...settingsIn(env, places),
    queries: { ...(seconds && { seconds }), ...(memoryMegabytes && { memoryMegabytes }) },
    ...settingsIn(env, limits),
    ...(secret && { webhook: { secret, ...(previousSecret && { previousSecret }) } }),
  }
  return {
    name: 'environment',
    tree: { connections: { default: connection } },
    where: path => variables[dotted(path)] ?? dotted(path),
    variablesOf: path => [variables[dotted(path)] ?? ''].filter(name => variable(env, name) !== undefined),
    variables: new Set(settingVariables),
  }
}

/** Variables that libraries read: proxies, certificates, settings of PostgreSQL and of AWS. */
const ofLibraries =
  /^((https?|no|all)_proxy|node_extra_ca_certs|node_use_env_proxy|ssl_cert_(file|dir)|pg[a-z]+|aws_\w+)$/i

/** Variables that are set and that libraries would read in a run; the settings may name more. */
export const usedVariables = (env: Environment): readonly string[] =>
  Object.keys(env).filter(name => variable(env, name) !== undefined && ofLibraries.test(name))

/** Files that such variables name. */
export const filesOfVariables = (env: Environment): readonly string[] =>
  usedVariables(env)
    .filter(name =>
      /^(node_extra_ca_certs|ssl_cert_file|pgpassfile|pgssl(rootcert|cert|key)|aws_ca_bundle|aws_(shared_credentials|config)_file|aws_web_identity_token_file)$/i.test(
        name,
      ),
    )
    .flatMap(name => variable(env, name) ?? [])

/** Silences the AWS SDK's notice about future Node versions; called before the SDK is loaded. */
export function keepLibrariesQuiet(): void {
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
}
