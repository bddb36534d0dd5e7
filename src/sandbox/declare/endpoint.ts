/** What an endpoint is: a path, its parameters and a function from a checked request to the data and meta of the envelope. */
import type { z } from 'zod'
import type { EndpointPath } from '../keys/access.ts'
import type { ApiKey } from '../keys/keys.ts'
import type { Usage } from '../keys/rate-limit.ts'
import type { ContractOptions } from '../options/contract-options.ts'
import type { Shuffle } from '../records/ties.ts'
import type { World } from '../world.ts'

export interface EndpointRequest {
  readonly key: ApiKey
  readonly world: World
  readonly options: ContractOptions
  readonly params: Readonly<Record<string, string>>
  readonly query: unknown
  /** Absent when records with equal sort keys keep their order. */
  readonly shuffle?: Shuffle
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
