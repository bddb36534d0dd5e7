/** The leases of everything at once, for what replaces the rows of a whole warehouse. */
import { catalogue } from '../../contract/catalogue.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { type Lease, releaseLease, renewLease, takeLease } from './leases.ts'

/** Its holder archives landed pages, and removes old ones. */
export const landingLease = 'landing'
/** Its holder builds marts. */
export const martLease = 'mart'

const everything: readonly string[] = [...catalogue.map(({ name }) => name), landingLease, martLease]

export interface WholeLease {
  /** Fails a transaction when another process has taken over any part since. */
  renew(engine: Engine): Promise<void>
  release(): Promise<void>
}

async function releaseAll(engine: Engine, leases: readonly Lease[]): Promise<void> {
  for (const lease of leases) await releaseLease(engine, lease)
}

/** Throws Busy while a process holds one of them. They are renewed until they are released. */
export async function takeWhole(
  engine: Engine,
  request: { readonly holder: string; readonly ms: number; readonly work: string },
): Promise<WholeLease> {
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
    // What is written at the end renews them too: it fails for the same reason and reports it.
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
