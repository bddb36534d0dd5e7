/** Whether this user may read the ledger: quarantine and inbox hold records as they came, so it is not for readers. */
import { MusterError } from '../../lib/errors.ts'
import type { Engine } from '../engine.ts'

/** Throws MusterError when there is a ledger that is kept from this user. */
export async function requireLedger(engine: Engine): Promise<void> {
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
