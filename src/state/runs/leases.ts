/** Grants leases: one writer per resource, with an epoch that stops a writer that was replaced. */
import { catalogue } from '../../contract/catalogue.ts'
import { Busy } from '../../lib/errors.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { ledger } from '../ledger.ts'

export interface Lease {
  readonly resource: string
  readonly holder: string
  readonly epoch: number
  /** Milliseconds from the last renewal to expiry. */
  readonly ms: number
}

interface LeaseRequest extends Omit<Lease, 'epoch'> {
  /** What the holder does, for the message to others. */
  readonly work?: string
}

/** Uses the clock of the warehouse: client clocks may differ by more than a lease lasts. */
const after = (engine: Engine, ms: number): string =>
  `${engine.instant} + interval '${Math.round(ms)} milliseconds'`

interface LeaseState {
  readonly holder: string
  readonly epoch: number
  /** ISO 8601. */
  readonly expires_at: string
  readonly is_over: boolean
}

async function readLease(engine: Engine, resource: string): Promise<LeaseState | undefined> {
  const [current] = await engine.rows<LeaseState>(
    `select holder, epoch, expires_at, expires_at <= ${engine.instant} as is_over from ops.lease where resource = $1`,
    [resource],
  )
  return current
}

function lockedError(
  engine: Engine,
  { resource, work = 'synced' }: LeaseRequest,
  current: LeaseState | undefined,
): Busy {
  return new Busy({
    what: `${resource} is being ${work} by ${current?.holder ?? 'another process'}`,
    where: engine.location,
    next: `wait for it to end${current ? `; the lease expires at ${current.expires_at}` : ''}`,
  })
}

/** One statement, so that of two processes only one gets the lease; undefined for the other. */
async function claim(
  engine: Engine,
  { resource, holder, ms }: LeaseRequest,
  from: { readonly current: LeaseState | undefined; readonly isFree: boolean },
): Promise<number | undefined> {
  const [claimed] = await engine.rows<{ epoch: number }>(
    `insert into ops.lease (resource, holder, epoch, expires_at) values ($1, $2, 1, ${after(engine, ms)})
     on conflict (resource) do update
       set holder = excluded.holder, epoch = lease.epoch + 1, expires_at = excluded.expires_at
       where lease.holder = $3 and lease.epoch = $4 and (lease.expires_at <= ${engine.instant} or $5)
     returning epoch`,
    [resource, holder, from.current?.holder ?? '', Number(from.current?.epoch ?? 0), from.isFree],
  )
  return claimed && Number(claimed.epoch)
}

/**
 * Takes the lease if it is free, expired, or left by a dead process. First ends the session of a holder that let the lease
 * expire: a process suspended in a transaction would keep its locks.
 */
export async function takeLease(engine: Engine, request: LeaseRequest): Promise<Lease> {
  const { resource, holder } = request
  const current = await readLease(engine, resource)
  const isOthers =
    current !== undefined && current.holder !== holder && (await engine.isPresent(current.holder))
  if (isOthers && !current.is_over) throw lockedError(engine, request, current)
  if (isOthers) await engine.evict(current.holder)
  const epoch = await claim(engine, request, { current, isFree: !isOthers })
  if (epoch === undefined) throw lockedError(engine, request, await readLease(engine, resource))
  return { resource, holder, ms: request.ms, epoch }
}

function takenOver(engine: Engine, resource: string, cause?: unknown): Busy {
  return new Busy({
    what: `another process has taken over ${resource}`,
    where: engine.location,
    next: 'nothing of this batch was written; muster runs shows the other process',
    cause,
  })
}

/** Extends the lease; fails the writer's transaction if another process has taken the lease. */
export async function renewLease(engine: Engine, { resource, holder, epoch, ms }: Lease): Promise<void> {
  const renewed = await engine.rows(
    `update ops.lease set expires_at = ${after(engine, ms)}
     where resource = $1 and epoch = $2 and holder = $3 returning epoch`,
    [resource, epoch, holder],
  )
  if (renewed.length !== 1) throw takenOver(engine, resource)
}

/** Returns the loss of the lease if that caused the error, else the error itself. */
export async function reasonBehind(engine: Engine, lease: Lease, error: unknown): Promise<unknown> {
  const current = await readLease(engine, lease.resource)
  if (current?.holder === lease.holder && Number(current.epoch) === lease.epoch) return error
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

export interface CurrentLease {
  readonly resource: string
  /** Id of a run, or of a rebuild. */
  readonly holder: string
  /** ISO 8601: start of the run; null for a rebuild, which is recorded when it ends. */
  readonly since: string | null
  /** ISO 8601. */
  readonly until: string
  /** False if the process died without releasing the lease. */
  readonly isPresent: boolean
}

export async function currentLeases(engine: Engine): Promise<CurrentLease[]> {
  const rows = await engine.rows<Omit<CurrentLease, 'isPresent'>>(
    `select l.resource, l.holder, r.started_at as since, l.expires_at as until
     from ops.lease as l left join ops.run as r on r.run_id = l.holder order by l.resource`,
  )
  const leases: CurrentLease[] = []
  for (const row of rows) leases.push({ ...row, isPresent: await engine.isPresent(row.holder) })
  return leases
}

/** For archiving landed pages and removing old ones. */
export const landingLease = 'landing'
/** For building marts. */
export const martLease = 'mart'

const everything: readonly string[] = [...catalogue.map(({ name }) => name), landingLease, martLease]

/** All leases at once, for replacing all rows of a warehouse. */
export interface WarehouseLease {
  /** Fails the transaction if another process has taken any of the leases. */
  renew(engine: Engine): Promise<void>
  release(): Promise<void>
}

async function releaseAll(engine: Engine, leases: readonly Lease[]): Promise<void> {
  for (const lease of leases) await releaseLease(engine, lease)
}

/** Throws Busy while a process holds one of them. Renews them until they are released. */
export async function leaseWarehouse(
  engine: Engine,
  request: { readonly holder: string; readonly ms: number; readonly work: string },
): Promise<WarehouseLease> {
  await engine.announce(request.holder)
  const leases: Lease[] = []
  try {
    for (const resource of everything) leases.push(await takeLease(engine, { ...request, resource }))
  } catch (error) {
    await releaseAll(engine, leases)
    throw error
  }
  const renew = async (engine: Engine): Promise<void> => {
    for (const lease of leases) await renewLease(engine, lease)
  }
  const timer = setInterval(() => {
    // Ignore failures: the last write renews the leases too, fails for the same reason and reports it.
    engine.transaction(renew).catch(() => undefined)
  }, request.ms / 3)
  timer.unref()
  return {
    renew,
    async release() {
      clearInterval(timer)
      await releaseAll(engine, leases)
    },
  }
}
