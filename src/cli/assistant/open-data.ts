/** Opens what assistants may read: data without anything personal, however they ask for it. */
import { existsSync } from 'node:fs'
import type { Connection } from '../../config/connection.ts'
import { ConfigError, MusterError } from '../../lib/errors.ts'
import { publishedFile } from '../../warehouse/duckdb/published-file.ts'
import { openQuery } from '../../warehouse/duckdb/query.ts'
import type { QuerySession } from '../../warehouse/query.ts'
import { duckdbFile } from '../warehouse.ts'

/**
 * The published copy, and no other file: DuckDB knows no rights by schema, so that whoever reads the working file
 * reads pii. Throws MusterError when there is none, ConfigError for PostgreSQL.
 */
export function openData(connection: Connection): Promise<QuerySession> {
  const file = duckdbFile(connection)
  if (file === undefined) {
    throw new ConfigError({
      what: 'muster mcp reads the published copy of a DuckDB warehouse, and this one is PostgreSQL',
      next: 'connect the assistant as a role that muster roles made for readers',
    })
  }
  const copy = publishedFile(file)
  if (!existsSync(copy)) {
    throw new MusterError({
      what: 'there is no published copy, and assistants read nothing else',
      where: copy,
      next: 'run muster publish first',
    })
  }
  return openQuery(copy)
}
