/** Leases: one writer a resource, with an epoch that tells a late writer it has been replaced. */

import { Busy } from '../../lib/errors.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { ledger } from '../ledger.ts'

export interface Lease {
  readonly resource: string
  readonly holder: string
  readonly epoch: number
  /** How long it lasts after its last renewal, in milliseconds. */
  readonly ms: number
}

interface LeaseRequest extends Omit<Lease, 'epoch'> {
  /** What the holder does, for the message to others. */
  readonly work?: string
}

/** The clock of the warehouse counts: those of its clients may differ by more than a lease lasts. */
const after = (engine: Engine, ms: number): string =>
  `${engine.instant} + interval '${Math.round(ms)} milliseconds'`

interface Held {
  readonly holder: string
  readonly epoch: number
  /** ISO 8601. */
  readonly expires_at: string
  readonly is_over: boolean
}

async function heldLease(engine: Engine, resource: string): Promise<Held | undefined> {
  const [held] = await engine.rows<Held>(
    `select holder, epoch, expires_at, expires_at <= ${engine.instant} as is_over from ops.lease where resource = $1`,
    [resource],
  )
  return held
}

function beingHeld(
  engine: Engine,
  { resource, work = 'synced' }: LeaseRequest,
  held: Held | undefined,
): Busy {
  return new Busy({
    what: `${resource} is being ${work} by ${held?.holder ?? 'another process'}`,
    where: engine.location,
    next: `wait for it to end${held ? `; the lease expires at ${held.expires_at}` : ''}`,
  })
}

/** One statement, so that only one of two processes that read the same lease gets it; undefined for the other. */
async function claim(
  engine: Engine,
  { resource, holder, ms }: LeaseRequest,
  from: { readonly held: Held | undefined; readonly isFree: boolean },
): Promise<number | undefined> {
  const [claimed] = await engine.rows<{ epoch: number }>(
    `insert into ops.lease (resource, holder, epoch, expires_at) values ($1, $2, 1, ${after(engine, ms)})
     on conflict (resource) do update
       set holder = excluded.holder, epoch = lease.epoch + 1, expires_at = excluded.expires_at
       where lease.holder = $3 and lease.epoch = $4 and (lease.expires_at <= ${engine.instant} or $5)
     returning epoch`,
    [resource, holder, from.held?.holder ?? '', Number(from.held?.epoch ?? 0), from.isFree],
  )
  return claimed && Number(claimed.epoch)
}

/**
 * Takes the lease when it is free, expired, or left by a process that has died. A holder that let it expire and still has
 * a session loses the session first: stopped in the middle of a transaction, it would keep its locks while it is stopped.
 */
export async function takeLease(engine: Engine, request: LeaseRequest): Promise<Lease> {
  const { resource, holder } = request
  const held = await heldLease(engine, resource)
  const isOthers = held !== undefined && held.holder !== holder && (await engine.isPresent(held.holder))
  if (isOthers && !held.is_over) throw beingHeld(engine, request, held)
  if (isOthers) await engine.evict(held.holder)
  const epoch = await claim(engine, request, { held, isFree: !isOthers })
  if (epoch === undefined) throw beingHeld(engine, request, await heldLease(engine, resource))
  return { resource, holder, ms: request.ms, epoch }
}

function takenOver(engine: Engine, resource: string, cause?: unknown): Busy {
  return new Busy({
    what: `another process has taken over ${resource}`,
    where: engine.location,
    next: 'nothing of this batch was written; look at muster runs for the other one',
    cause,
  })
}

/** Extends the lease; fails the transaction of a writer whose lease another process has taken since. */
export async function renewLease(engine: Engine, { resource, holder, epoch, ms }: Lease): Promise<void> {
  const renewed = await engine.rows(
    `update ops.lease set expires_at = ${after(engine, ms)}
     where resource = $1 and epoch = $2 and holder = $3 returning epoch`,
    [resource, epoch, holder],
  )
  if (renewed.length !== 1) throw takenOver(engine, resource)
}

/** The loss of the lease if that caused the error, else the error itself. */
export async function reasonBehind(engine: Engine, lease: Lease, error: unknown): Promise<unknown> {
  const held = await heldLease(engine, lease.resource)
  if (held?.holder === lease.holder && Number(held.epoch) === lease.epoch) return error
  return takenOver(engine, lease.resource, error)
}

export async function releaseLease(engine: Engine, lease: Lease): Promise<void> {
  await ledger(engine)
    .deleteFrom('ops.lease')
    .where('resource', '=', lease.resource)
    .where('epoch', '=', lease.epoch)
    .where('holder', '=', lease.holder)
    .execute()
}

export interface HeldLease {
  readonly resource: string
  /** Id of a run, or of a rebuild. */
  readonly holder: string
  /** ISO 8601: start of the run; null for a rebuild, which is recorded when it ends. */
  readonly since: string | null
  /** ISO 8601. */
  readonly until: string
  /** False when the process died without releasing the lease. */
  readonly isPresent: boolean
}

export async function heldLeases(engine: Engine): Promise<HeldLease[]> {
  const rows = await engine.rows<Omit<HeldLease, 'isPresent'>>(
    `select l.resource, l.holder, r.started_at as since, l.expires_at as until
     from ops.lease as l left join ops.run as r on r.run_id = l.holder order by l.resource`,
  )
  const leases: HeldLease[] = []
  for (const row of rows) leases.push({ ...row, isPresent: await engine.isPresent(row.holder) })
  return leases
}
