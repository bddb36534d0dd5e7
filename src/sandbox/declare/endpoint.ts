/**
 * Declares an endpoint in one place: its route, the checks of key and parameters, the 405 for other methods, its operation
 * in the OpenAPI document and its tool all derive from it.
 */
import type * as z from 'zod'
import type { Operation } from '../../contract/fields/operation.ts'
import type { Access, ApiKey } from '../keys/keys.ts'
import { testsWithin, type VisibleRecords } from '../keys/scope.ts'
import type { ContractOptions } from '../options.ts'
import { type StoredRecord, withoutFields } from '../record.ts'
import { ApiError } from '../refusals.ts'
import type { Shuffle } from '../sorted-order.ts'
import type { CollectionName, World } from '../world.ts'
import type { Desk } from '../writes/worker-book.ts'
import { idParameter, leftOut, parametersOf, parseParameters } from './parameters.ts'
import type { NamedSchema } from './schemas.ts'

export interface RateLimits {
  readonly perMinute: number
  readonly perDay: number
}

export interface KeyDayUsage {
  readonly requestsToday: number
  readonly remainingToday: number
  readonly resetsAt: string
}

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
  readonly limits: RateLimits
  readonly usage: KeyDayUsage
  /** When the key was last used before this request. */
  readonly lastUsedAt?: string
}

interface EndpointAnswer {
  readonly data: unknown
  readonly meta?: object
}

export interface EndpointDescription extends Access {
  /** Below the base path, with `:id` for what varies. */
  readonly path: string
  /** Its name as a tool in the contract, after `open_api_`; absent if it is not a tool. */
  readonly tool?: string
  /** Replaces the name of the tool. */
  readonly operationId?: string
  readonly summary: string
  /** Schema of `data`, or of each of its elements. */
  readonly returns: NamedSchema
  /** Where the records are; absent when they are made from others. */
  readonly collection?: CollectionName
  /** Schema of `meta`, if there is one. */
  readonly meta?: NamedSchema
  /** Whether it can answer 404 although its path has no id. */
  readonly mayMiss?: boolean
  readonly body?: z.ZodType
  /** Fields that come only when a parameter asks for them. */
  readonly onRequest?: readonly string[]
}

/** A list must declare `within`: without it, every key would see every company. */
type ListScope = { readonly isList: true; readonly within: VisibleRecords } | { readonly isList?: never }

export interface Endpoint extends EndpointDescription {
  readonly isList?: boolean
  readonly within?: VisibleRecords
  readonly method: 'GET' | 'POST' | 'PATCH'
  /** Query parameters. */
  readonly parameters: z.ZodRawShape
  readonly answer: (request: EndpointRequest) => EndpointAnswer
}

type EndpointDeclaration<Shape extends z.ZodRawShape> = EndpointDescription &
  ListScope & {
    /** GET by default. */
    readonly method?: Endpoint['method']
    readonly parameters: Shape
    readonly answer: (request: EndpointRequest, query: z.infer<z.ZodObject<Shape>>) => EndpointAnswer
  }

export function endpoint<Shape extends z.ZodRawShape>(declaration: EndpointDeclaration<Shape>): Endpoint {
  const { parameters, answer } = declaration
  return {
    method: 'GET',
    ...declaration,
    answer: request => answer(request, parseParameters(parameters, request.query)),
  }
}

interface ReadSpec extends Omit<EndpointDescription, 'path' | 'tool' | 'summary'> {
  readonly summary?: string
  readonly operation: Operation
  readonly collection: CollectionName
  /** The name of the record. */
  readonly noun: string
  readonly within: VisibleRecords
  readonly present?: (record: StoredRecord, request: EndpointRequest, flags: Flags) => StoredRecord
}

type Flags = Readonly<Record<string, unknown>>

/** 400 for text that cannot be an id; the same 404 for a record that does not exist and one the key may not see. */
export function readEndpoint(spec: ReadSpec): Endpoint {
  const { operation, collection, noun, within, present } = spec
  const takes = operation.parameters
  return endpoint({
    summary: `One ${noun}.`,
    ...spec,
    path: operation.path.replace('{id}', ':id'),
    tool: `get_${noun.replace(' ', '_')}`,
    onRequest: leftOut(takes),
    parameters: parametersOf(takes, {}),
    answer: (request, flags) => {
      const id = pathId(request, noun)
      const record = request.world.find(collection, id)
      if (!record || !testsWithin(within, request).every(test => test(record))) {
        throw new ApiError(404, `${noun} not found`)
      }
      const shown = withoutFields(record, leftOut(takes, flags))
      return { data: present ? present(shown, request, flags) : shown }
    },
  })
}

export function pathId({ params }: EndpointRequest, noun: string): string {
  const id = params.id ?? ''
  if (!idParameter.safeParse(id).success) throw new ApiError(400, `invalid ${noun} id`)
  return id
}
