/** Opens the data that assistants may read: none of it is personal, whatever they query. */
import { existsSync } from 'node:fs'
import type { StoredConnection } from '../../config/connection.ts'
import { ConfigError, MusterError } from '../../lib/errors.ts'
import { openQuery } from '../../warehouse/duckdb/ad-hoc/child.ts'
import { publishedFile } from '../../warehouse/duckdb/database-file.ts'
import { openPostgresQuery } from '../../warehouse/on-demand.ts'
import type { QueryBounds, QuerySession } from '../../warehouse/query.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import { duckdbFile, type PostgresPlace, postgresPlace } from '../connection/warehouse.ts'
import { type Catalogue, duckdbCatalogue, postgresCatalogue } from './catalogue-sql.ts'

export interface AssistantData {
  readonly catalogue: Catalogue
  /** A session for one call; no statement runs longer than `seconds`. Throws MusterError, ConfigError. */
  open(seconds: number): Promise<QuerySession>
}

export function assistantData(connection: StoredConnection): AssistantData {
  const place = postgresPlace(connection)
  const within = (seconds: number): QueryBounds => ({ ...connection.queries, seconds })
  if (!place) {
    const file = duckdbFile(connection) ?? ''
    return {
      catalogue: duckdbCatalogue,
      open: seconds => openCopy(file, within(seconds)),
    }
  }
  const { schemaPrefix = '' } = place.options
  return { catalogue: postgresCatalogue(schemaPrefix), open: seconds => openServer(place, within(seconds)) }
}

/** Only the published copy: DuckDB has no rights by schema, so every reader of the working file can read pii. */
function openCopy(file: string, bounds: QueryBounds): Promise<QuerySession> {
  const copy = publishedFile(file)
  if (!existsSync(copy)) {
    throw new MusterError({
      what: 'there is no published copy, and assistants read nothing else',
      where: copy,
      next: 'run muster publish first',
    })
  }
  return openQuery(copy, bounds)
}

/** Only the rights of the server protect personal data: a query can undo any role or setting of the session. */
async function openServer({ address, options }: PostgresPlace, bounds: QueryBounds): Promise<QuerySession> {
  const { schemaPrefix = '' } = options
  const session = await openPostgresQuery(address, { bounds, prefix: schemaPrefix })
  try {
    const { rows } = await session.query(privateTo(schemaPrefix), 10)
    if (rows.length === 0) return session
    throw new ConfigError({
      what: `the user of this connection may read ${rows.map(row => row.name).join(', ')}, which assistants may not`,
      where: address.shown,
      next: 'give muster mcp a connection whose user is the reader role that muster roles makes',
    })
  } catch (error) {
    await session.close()
    throw error
  }
}

/** Selects the schemas with personal data that the user, or any role it may become, can use. */
function privateTo(prefix: string): string {
  const names = ['pii', 'history', 'ops'].map(name => quoteText(prefix + name)).join(', ')
  return `select n.nspname as name from pg_catalog.pg_namespace n where n.nspname in (${names}) and exists (
    select 1 from pg_catalog.pg_roles r where pg_catalog.pg_has_role(session_user, r.oid, 'member')
      and pg_catalog.has_schema_privilege(r.oid, n.oid, 'usage')) order by n.nspname`
}
