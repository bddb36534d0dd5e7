/** Leases: one writer a resource, with an epoch that tells a late writer it has been replaced. */
import { MusterError } from '../../lib/errors.ts'
import type { Engine } from '../engine.ts'

export interface Lease {
  readonly resource: string
  readonly holder: string
  readonly epoch: number
}

interface LeaseRequest {
  readonly resource: string
  readonly holder: string
  /** ISO 8601. */
  readonly now: string
  readonly expiresAt: string
}

/** Takes the lease when it is free, expired, or left by a process that is gone. */
export async function takeLease(
  engine: Engine,
  { resource, holder, now, expiresAt }: LeaseRequest,
): Promise<Lease> {
  return engine.transaction(async () => {
    const [held] = await engine.ledger
      .selectFrom('ops.lease')
      .selectAll()
      .where('resource', '=', resource)
      .execute()
    const isOthers = held !== undefined && held.holder !== holder && held.expires_at > now
    if (held && isOthers && (await engine.isPresent(held.holder))) {
      throw new MusterError({
        what: `${resource} is being synced by ${held.holder}`,
        where: engine.location,
        next: `wait for it to end; the lease expires at ${held.expires_at}`,
      })
    }
    const epoch = Number(held?.epoch ?? 0) + 1
    await engine.ledger.deleteFrom('ops.lease').where('resource', '=', resource).execute()
    await engine.ledger
      .insertInto('ops.lease')
      .values({ resource, holder, epoch, expires_at: expiresAt })
      .execute()
    return { resource, holder, epoch }
  })
}

/** Fails the transaction of a writer whose lease somebody else has taken since; extends it otherwise. */
export async function renewLease(engine: Engine, lease: Lease, expiresAt: string): Promise<void> {
  const renewed = await engine.ledger
    .updateTable('ops.lease')
    .set({ expires_at: expiresAt })
    .where('resource', '=', lease.resource)
    .where('epoch', '=', lease.epoch)
    .where('holder', '=', lease.holder)
    .returning('epoch')
    .execute()
  if (renewed.length === 1) return
  throw new MusterError({
    what: `another process has taken over ${lease.resource}`,
    where: engine.location,
    next: 'nothing of this batch was written; look at muster runs for the other one',
  })
}

export async function releaseLease(engine: Engine, lease: Lease): Promise<void> {
  await engine.ledger
    .deleteFrom('ops.lease')
    .where('resource', '=', lease.resource)
    .where('epoch', '=', lease.epoch)
    .execute()
}
