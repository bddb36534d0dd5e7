/** The read engine: one record by its id or short id, if the key may see it. */
import type { z } from 'zod'
import type { EndpointPath } from '../keys/access.ts'
import { type ScopePaths, scopeTests, type Test } from '../keys/scope.ts'
import type { StoredRecord } from '../records/record.ts'
import { findByAnyId } from '../records/short-id.ts'
import { ApiError } from '../refusals/api-error.ts'
import type { Collection } from '../world.ts'
import type { Endpoint, EndpointRequest } from './endpoint.ts'
import { flagParameter, idParameter, parseParameters } from './parameters.ts'

export interface ReadSpec {
  readonly path: EndpointPath
  readonly collection: Collection
  /** What the refusals call the record. */
  readonly noun: string
  /** Absent when the tests alone say what may be seen. */
  readonly scope?: ScopePaths
  /** Names of the flag parameters. */
  readonly includes?: readonly string[]
  /** Visibility beyond companies and agencies. */
  readonly tests?: (request: EndpointRequest) => readonly Test[]
  readonly present?: (record: StoredRecord, request: EndpointRequest, flags: Flags) => StoredRecord
}

export type Flags = Readonly<Record<string, boolean>>

/** 400 for what can be no id, 404 for what does not exist and for what the key may not see, without a difference. */
export function readEndpoint(spec: ReadSpec): Endpoint {
  const parameters: z.ZodRawShape = Object.fromEntries(
    (spec.includes ?? []).map(name => [name, flagParameter.default(false)]),
  )
  return {
    path: spec.path,
    parameters,
    answer: request => {
      const flags = parseParameters(parameters, request.query) as Flags
      const id = pathId(request, spec.noun)
      const record = findByAnyId(request.world, spec.collection, id)
      if (!record || !testsOf(spec, request).every(test => test(record))) {
        throw new ApiError(404, `${spec.noun} not found`)
      }
      return { data: spec.present ? spec.present(record, request, flags) : record }
    },
  }
}

export function pathId({ params }: EndpointRequest, noun: string): string {
  const id = params.id ?? ''
  if (!idParameter.safeParse(id).success) throw new ApiError(400, `invalid ${noun} id`)
  return id
}

function testsOf(spec: ReadSpec, request: EndpointRequest): readonly Test[] {
  const inScope = spec.scope ? scopeTests(request.key, request.world, spec.scope) : []
  return [...inScope, ...(spec.tests?.(request) ?? [])]
}
