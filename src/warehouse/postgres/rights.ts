/** Whether this user may read the ledger, and whether it may make and change tables. */
import { MusterError } from '../../lib/errors.ts'
import type { Engine } from '../engine.ts'
import { schemaNames } from '../schema/schemas.ts'

type Reader = Pick<Engine, 'rows' | 'schema' | 'location'>

/**
 * Throws MusterError when there is a ledger that this user may not read: ops is not for readers, because quarantine and
 * inbox hold whole records.
 */
export async function requireLedger(engine: Reader): Promise<void> {
  const [ledger] = await engine.rows<{ user: string; may_use: boolean }>(
    `select current_user::text as user, pg_catalog.has_schema_privilege(oid, 'usage') as may_use
     from pg_catalog.pg_namespace where nspname = $1`,
    [engine.schema('ops')],
  )
  if (!ledger || ledger.may_use) return
  throw new MusterError({
    what: `${ledger.user} may not read ${engine.schema('ops')}, where runs and the state of every resource are kept`,
    where: engine.location,
    next: `connect as the loader or the owner; how fresh and complete the data is stands in ${engine.schema('mart')}.data_health as well`,
  })
}

/** Throws MusterError before anything is tried, and says which user to connect as. */
export async function requireOwner(engine: Reader): Promise<void> {
  await requireLedger(engine)
  const names = schemaNames.map(name => engine.schema(name))
  const [row] = await engine.rows<{ owned: number; others: number; may_create: boolean }>(
    `select count(*) filter (where pg_catalog.pg_has_role(nspowner, 'usage')) as owned,
       count(*) filter (where not pg_catalog.pg_has_role(nspowner, 'usage')) as others,
       has_database_privilege(current_database(), 'create') as may_create
     from pg_catalog.pg_namespace where nspname = any(string_to_array($1, ','))`,
    [names.join(',')],
  )
  const isComplete = Number(row?.owned) === names.length
  if (Number(row?.others) === 0 && (isComplete || row?.may_create)) return
  throw new MusterError({
    what: 'the tables of the warehouse have to be made or changed for this version, which this user may not do',
    where: engine.location,
    next: 'run muster sync once as the owner role, then go on with this one',
  })
}
