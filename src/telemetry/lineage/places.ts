/** Names of datasets as OpenLineage's naming convention has them, so that other programs name the same tables alike. */
import { isIPv6 } from 'node:net'

export interface Place {
  readonly namespace: string
  /** `table` is qualified, such as star.dim_worker. */
  nameOf(table: string): string
}

/** A local file has the namespace `file`, and its path is the name. */
export const filePlace = (file: string): Place => ({
  namespace: 'file',
  nameOf: table => `${file}/${table}`,
})

interface Server {
  readonly host: string
  readonly port: number
  readonly database: string
  readonly schemaPrefix?: string | undefined
}

/** `postgres://HOST:PORT`, and DATABASE.SCHEMA.TABLE. */
export const serverPlace = ({ host, port, database, schemaPrefix = '' }: Server): Place => ({
  namespace: `postgres://${isIPv6(host) ? `[${host}]` : host}:${port}`,
  nameOf: table => `${database}.${schemaPrefix}${table}`,
})

/** The address of the service without what may be secret; the name of a resource is its name. */
export function servicePlace(address: string): Place {
  const { origin, pathname } = new URL(address)
  return { namespace: `${origin}${pathname.replace(/\/+$/, '')}`, nameOf: name => name }
}
