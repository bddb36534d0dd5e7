/** Opens an engine and loads its library only then: DuckDB's takes 0.25 s of CPU, saved by commands that do not use it. */

import type { openDuckdb as duckdb, openStage as stage } from './duckdb/open.ts'
import type { rewriteFile as rewrite, hasSlack as slack } from './duckdb/rewrite-file.ts'
import type { openPostgresQuery as postgresQuery } from './postgres/ad-hoc-session.ts'
import type { openPostgres as postgres } from './postgres/open.ts'
import type { openPostgresReader as postgresReader } from './postgres/statements.ts'

export const openDuckdb: typeof duckdb = async (...args) =>
  (await import('./duckdb/open.ts')).openDuckdb(...args)

export const openStage: typeof stage = async (...args) =>
  (await import('./duckdb/open.ts')).openStage(...args)

export const rewriteFile: typeof rewrite = async (...args) =>
  (await import('./duckdb/rewrite-file.ts')).rewriteFile(...args)

export const hasSlack: typeof slack = async (...args) =>
  (await import('./duckdb/rewrite-file.ts')).hasSlack(...args)

export const openPostgres: typeof postgres = async (...args) =>
  (await import('./postgres/open.ts')).openPostgres(...args)

export const openPostgresQuery: typeof postgresQuery = async (...args) =>
  (await import('./postgres/ad-hoc-session.ts')).openPostgresQuery(...args)

export const openPostgresReader: typeof postgresReader = async (...args) =>
  (await import('./postgres/statements.ts')).openPostgresReader(...args)
