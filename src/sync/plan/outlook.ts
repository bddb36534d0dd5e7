/** Holds what a plan is made from, and what it finds out about a resource. */
import type { Client } from '../../api/client/client.ts'
import type { KeyInfo } from '../../api/client/key.ts'
import type { Resource } from '../../contract/fields/resource.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Engine } from '../../warehouse/engine.ts'
import type { KnownSize } from './estimate.ts'

export interface PlanSources {
  /** A warehouse that has been synced; undefined before the first sync. */
  readonly engine: Engine | undefined
  /** Undefined when no request may be sent. */
  readonly client: Client | undefined
  readonly clock: Clock
  readonly key: Pick<KeyInfo, 'kind' | 'companies'>
}

/** How a resource will be read, and what is known about its size. */
export interface Outlook {
  readonly strategy: string
  readonly size: KnownSize
  readonly watermark?: string | null
  readonly total?: number | null
}

export interface PlanContext extends PlanSources {
  /** Resources that were read to their end, whose ids are noted. */
  readonly readBefore: ReadonlySet<string>
  /** Totals by request, so that none is sent twice. */
  readonly totals: Map<string, number>
  /** Records of some pages of each list, by its name. */
  readonly samples: Map<string, Promise<readonly unknown[]>>
}

/** Requests one record to learn the total of its list; undefined when no request may be sent. */
export async function askTotal(
  resource: Pick<Resource, 'path' | 'query'>,
  { client, totals }: PlanContext,
  filter: Readonly<Record<string, string>> = {},
): Promise<number | undefined> {
  const query = { ...resource.query, ...filter, page: 1, limit: 1 }
  const request = JSON.stringify([resource.path, query])
  if (!client || totals.has(request)) return totals.get(request)
  const { meta } = await client.getPage(resource.path, query, { purpose: 'operator' })
  totals.set(request, meta.total)
  return meta.total
}
