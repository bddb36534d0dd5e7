/** Whether this user may make and change the tables of the warehouse; who only loads may not. */
import { MusterError } from '../../lib/errors.ts'
import type { Engine } from '../engine.ts'
import { schemaNames } from '../schema/schemas.ts'
import { requireLedger } from './may-read.ts'

/** Throws MusterError with the way out, before anything is tried. */
export async function requireOwner(engine: Engine): Promise<void> {
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
