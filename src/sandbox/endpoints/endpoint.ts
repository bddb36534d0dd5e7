/** What an endpoint is: a path and a function from a checked request to the data and meta of the envelope. */
import type { EndpointPath } from '../access.ts'
import type { ApiKey } from '../keys.ts'
import type { Knobs } from '../knobs.ts'
import type { MetricOptions } from '../metrics/options.ts'
import type { Usage } from '../rate-limit.ts'
import type { World } from '../world.ts'

export interface EndpointRequest {
  readonly key: ApiKey
  readonly world: World
  readonly knobs: Knobs
  readonly metrics: MetricOptions
  readonly params: Readonly<Record<string, string>>
  readonly query: unknown
  /** Puts records with equal sort keys in another order at each request; absent when ties are stable. */
  readonly shuffleTies?: <T>(group: T[]) => T[]
  readonly limits: { readonly perMinute: number; readonly perDay: number }
  readonly usage: Usage
  /** When the key was last used before this request. */
  readonly lastUsedAt?: string
}

interface Answer {
  readonly data: unknown
  readonly meta?: object
}

export interface Endpoint {
  readonly path: EndpointPath
  readonly answer: (request: EndpointRequest) => Answer
}
