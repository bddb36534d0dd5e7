/** Settings of the one connection `default`, when there is no file but a few variables. */
import { type Environment, variable } from './environment.ts'
import { dotted, type Source } from './source.ts'

const variables: Readonly<Record<string, string>> = {
  'connections.default.baseUrl': 'MUSTER_BASE_URL',
  'connections.default.apiKey': 'MUSTER_API_KEY',
  'connections.default.warehouse': 'MUSTER_WAREHOUSE',
  'connections.default.schemaPrefix': 'MUSTER_SCHEMA_PREFIX',
  'connections.default.landing': 'MUSTER_LANDING',
  'connections.default.webhook.secret': 'MUSTER_WEBHOOK_SECRET',
  'connections.default.webhook.previousSecret': 'MUSTER_WEBHOOK_PREVIOUS_SECRET',
}

const defaultWarehouse = 'duckdb:data/muster.duckdb'

/** Returns undefined unless the variables name a service or a key. */
export function environmentSource(env: Environment): Source | undefined {
  const baseUrl = variable(env, 'MUSTER_BASE_URL')
  const apiKey = variable(env, 'MUSTER_API_KEY')
  if (baseUrl === undefined && apiKey === undefined) return undefined
  const secret = variable(env, 'MUSTER_WEBHOOK_SECRET')
  const previousSecret = variable(env, 'MUSTER_WEBHOOK_PREVIOUS_SECRET')
  const landing = variable(env, 'MUSTER_LANDING')
  const schemaPrefix = variable(env, 'MUSTER_SCHEMA_PREFIX')
  const connection = {
    ...(baseUrl && { baseUrl }),
    ...(apiKey && { apiKey }),
    warehouse: variable(env, 'MUSTER_WAREHOUSE') ?? defaultWarehouse,
    ...(schemaPrefix && { schemaPrefix }),
    ...(landing && { landing }),
    ...(secret && { webhook: { secret, ...(previousSecret && { previousSecret }) } }),
  }
  return {
    name: 'environment',
    tree: { connections: { default: connection } },
    where: path => variables[dotted(path)] ?? dotted(path),
    isFromEnvironment: () => true,
  }
}
