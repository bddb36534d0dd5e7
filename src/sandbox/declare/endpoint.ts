/** What an endpoint is: a path, its parameters and a function from a checked request to the data and meta of the envelope. */
import type { z } from 'zod'
import type { EndpointPath } from '../keys/access.ts'
import type { ApiKey } from '../keys/keys.ts'
import type { Usage } from '../keys/rate-limit.ts'
import type { MetricOptions } from '../metrics/options.ts'
import type { ContractOptions } from '../options/contract-options.ts'
import type { World } from '../world.ts'

export interface EndpointRequest {
  readonly key: ApiKey
  readonly world: World
  readonly options: ContractOptions
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
  /** Of the query; what answers parses them, what describes the operation lists them. */
  readonly parameters: z.ZodRawShape
  readonly answer: (request: EndpointRequest) => Answer
}
