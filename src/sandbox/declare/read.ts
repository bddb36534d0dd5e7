/** The read engine: one record by its id or short id, if the key may see it. */
import { type ScopePaths, scopeTests, type Test } from '../keys/scope.ts'
import type { StoredRecord } from '../records/record.ts'
import { withoutFields } from '../records/select-fields.ts'
import { findByAnyId } from '../records/short-id.ts'
import { ApiError } from '../refusals/api-error.ts'
import type { Collection } from '../world.ts'
import { type Described, type Endpoint, type EndpointRequest, endpoint } from './endpoint.ts'
import { type Includes, idParameter, includedFields, includeParameters, leftOut } from './parameters.ts'

interface ReadSpec extends Described {
  readonly collection: Collection
  /** The name of the record in refusals. */
  readonly noun: string
  /** Where a record names its company and its agency; absent when `tests` alone decides what the key may see. */
  readonly within?: ScopePaths
  readonly includes?: Includes
  /** Visibility beyond companies and agencies. */
  readonly tests?: (request: EndpointRequest) => readonly Test[]
  readonly present?: (record: StoredRecord, request: EndpointRequest, flags: Flags) => StoredRecord
}

type Flags = Readonly<Record<string, unknown>>

/** 400 for text that cannot be an id; the same 404 for a record that does not exist and one the key may not see. */
export function readEndpoint(spec: ReadSpec): Endpoint {
  const { collection, noun, includes = {}, present } = spec
  return endpoint({
    ...spec,
    onRequest: includedFields(includes),
    parameters: includeParameters(includes),
    answer: (request, flags) => {
      const id = pathId(request, noun)
      const record = findByAnyId(request.world, collection, id)
      if (!record || !testsOf(spec, request).every(test => test(record))) {
        throw new ApiError(404, `${noun} not found`)
      }
      const shown = withoutFields(record, leftOut(includes, flags))
      return { data: present ? present(shown, request, flags) : shown }
    },
  })
}

export function pathId({ params }: EndpointRequest, noun: string): string {
  const id = params.id ?? ''
  if (!idParameter.safeParse(id).success) throw new ApiError(400, `invalid ${noun} id`)
  return id
}

function testsOf(spec: ReadSpec, request: EndpointRequest): readonly Test[] {
  const inScope = spec.within ? scopeTests(request.key, request.world, spec.within) : []
  return [...inScope, ...(spec.tests?.(request) ?? [])]
}
