/** Names datasets by OpenLineage's naming convention, so that other programs use the same names for the same tables. */
import { isIPv6 } from 'node:net'

export interface DatasetPlace {
  readonly namespace: string
  /** `table` is qualified, such as star.dim_worker. */
  nameOf(table: string): string
}

/** A local file has the namespace `file`, and its path is the name. */
export const filePlace = (file: string): DatasetPlace => ({
  namespace: 'file',
  nameOf: table => `${file}/${table}`,
})

interface PostgresServer {
  readonly host: string
  readonly port: number
  readonly database: string
  readonly schemaPrefix?: string | undefined
}

/** `postgres://HOST:PORT`, and DATABASE.SCHEMA.TABLE. */
export const serverPlace = ({ host, port, database, schemaPrefix = '' }: PostgresServer): DatasetPlace => ({
  namespace: `postgres://${isIPv6(host) ? `[${host}]` : host}:${port}`,
  nameOf: table => `${database}.${schemaPrefix}${table}`,
})

/** The service's address without parts that may be secret; datasets are named like their resources. */
export function servicePlace(address: string): DatasetPlace {
  const { origin, pathname } = new URL(address)
  return { namespace: `${origin}${pathname.replace(/\/+$/, '')}`, nameOf: name => name }
}
