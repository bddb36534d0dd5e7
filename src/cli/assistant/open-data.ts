/** Opens what assistants may read: data without anything personal, however they ask for it. */
import { existsSync } from 'node:fs'
import type { Connection } from '../../config/connection.ts'
import { MusterError } from '../../lib/errors.ts'
import { publishedFile } from '../../warehouse/duckdb/published-file.ts'
import { openQuery, type QuerySession } from '../../warehouse/duckdb/query.ts'
import { duckdbFile } from '../warehouse.ts'

/**
 * The published copy, and no other file: DuckDB knows no rights by schema, so that whoever reads the working file
 * reads pii. Throws MusterError when there is none.
 */
export function openData(connection: Connection): Promise<QuerySession> {
  const copy = publishedFile(duckdbFile(connection))
  if (!existsSync(copy)) {
    throw new MusterError({
      what: 'there is no published copy, and assistants read nothing else',
      where: copy,
      next: 'run muster publish first',
    })
  }
  return openQuery(copy)
}
