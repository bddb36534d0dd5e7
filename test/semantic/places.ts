/** Where BI tools find a warehouse of tests. */
import type { WarehousePlace } from '../../src/semantic/bundle.ts'
import type { Warehouse } from '../support/warehouse-fixture.ts'

export function placeOfFile({ address }: Pick<Warehouse, 'address'>): WarehousePlace {
  const database = address.replace(/^duckdb:/, '')
  return { kind: 'file', uri: `duckdb:///${database}`, host: '', port: 0, database, schema: 'mart' }
}

export function placeOfServer({
  address,
}: Pick<Warehouse, 'address'>): WarehousePlace & { readonly user: string; readonly password: string } {
  const { hostname, port, pathname, username, password } = new URL(address)
  const database = pathname.slice(1)
  return {
    kind: 'server',
    uri: `postgresql+psycopg2://${username}:${password}@${hostname}:${port}/${database}`,
    host: hostname,
    port: Number(port),
    database,
    schema: 'mart',
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
  }
}
