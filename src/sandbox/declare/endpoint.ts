/**
 * An endpoint in one declaration. The route, the check of the key, the check of the parameters, the 405 for other methods,
 * the operation of the OpenAPI document and the tool all come from it.
 */
import type * as z from 'zod'
import type { Access } from '../keys/access.ts'
import type { ApiKey } from '../keys/keys.ts'
import type { ContractOptions } from '../options/contract-options.ts'
import type { Shuffle } from '../records/ties.ts'
import type { Collection, World } from '../world.ts'
import type { Desk } from '../writes/desk.ts'
import type { NamedSchema } from './json-schema.ts'
import { parseParameters } from './parameters.ts'

export interface EndpointRequest {
  readonly key: ApiKey
  readonly world: World
  readonly options: ContractOptions
  readonly params: Readonly<Record<string, string>>
  readonly query: unknown
  readonly body: unknown
  readonly nowMs: number
  /** Changed by writes; reads do not use it. */
  readonly desk: Desk
  /** Absent when records with equal sort keys keep their order. */
  readonly shuffle?: Shuffle
  readonly limits: { readonly perMinute: number; readonly perDay: number }
  readonly usage: {
    readonly requestsToday: number
    readonly remainingToday: number
    readonly resetsAt: string
  }
  /** When the key was last used before this request. */
  readonly lastUsedAt?: string
}

export interface Answer {
  readonly data: unknown
  readonly meta?: object
  /** True unless a quirk says otherwise. */
  readonly success?: boolean
}

export interface Described extends Access {
  /** Below the base path, with `:id` for what varies. */
  readonly path: string
  /** The name that the contract gives it as a tool, after `open_api_`; absent when it is no tool. */
  readonly tool?: string
  /** In place of the name of the tool. */
  readonly operationId?: string
  readonly summary: string
  /** Of `data`, or of each of its elements. */
  readonly returns: NamedSchema
  readonly isList?: boolean
  /** Where the records are; absent when they are made from others. */
  readonly collection?: Collection
  /** Of `meta`, where there is one. */
  readonly meta?: NamedSchema
  /** Whether it can answer 404 although its path has no id. */
  readonly mayMiss?: boolean
  readonly body?: z.ZodType
  /** Fields that come only when a parameter asks for them. */
  readonly onRequest?: readonly string[]
}

export interface Endpoint extends Described {
  readonly method: 'GET' | 'POST' | 'PATCH'
  /** Of the query. */
  readonly parameters: z.ZodRawShape
  readonly answer: (request: EndpointRequest) => Answer
}

interface Declaration<Shape extends z.ZodRawShape> extends Described {
  /** GET unless it says otherwise. */
  readonly method?: Endpoint['method']
  readonly parameters: Shape
  readonly answer: (request: EndpointRequest, query: z.infer<z.ZodObject<Shape>>) => Answer
}

export function endpoint<Shape extends z.ZodRawShape>(declaration: Declaration<Shape>): Endpoint {
  const { parameters, answer } = declaration
  return {
    method: 'GET',
    ...declaration,
    answer: request => answer(request, parseParameters(parameters, request.query)),
  }
}
