/** The list engine: one declaration of filters, search, dates, sort and visibility becomes one endpoint. */
import * as z from 'zod'
import { checkCompanies, type ScopePaths, scopeTests, type Test } from '../keys/scope.ts'
import { pathReader, type StoredRecord } from '../records/record.ts'
import { withoutFields } from '../records/select-fields.ts'
import type { SortOrder } from '../records/sorted-order.ts'
import { shuffledTies } from '../records/ties.ts'
import type { Collection } from '../world.ts'
import { timestampRange } from './day-range.ts'
import { type Described, type Endpoint, type EndpointRequest, endpoint } from './endpoint.ts'
import { type Filter, matchesText } from './filter.ts'
import { pageMeta, pageOf } from './page.ts'
import {
  companiesParameter,
  fieldsParameter,
  type Includes,
  includedFields,
  includeParameters,
  leftOut,
  pageParameters,
  rangeParameters,
  searchParameter,
  sortParameters,
} from './parameters.ts'

type Names = readonly [string, ...string[]]

export interface ListSpec extends Described {
  readonly collection: Collection
  readonly filters: Readonly<Record<string, Filter>>
  /** Fields of `query`. */
  readonly search?: readonly string[]
  /** Timestamps that `from` and `to` may apply to; `dateField` exists where there are several. */
  readonly dates?: { readonly fields: Names; readonly by: string }
  /** `paths` has the field for each value of `sortBy` that is not itself the field. */
  readonly sort: {
    readonly fields: Names
    readonly by: string
    readonly order: SortOrder
    readonly paths?: Readonly<Record<string, string>>
  }
  readonly includes?: Includes
  /** Fields that are stored but never sent. */
  readonly hidden?: readonly string[]
  /** Where a record names its company and its agency; absent when `tests` alone decides what the key may see. */
  readonly within?: ScopePaths
  /** Whether it takes the parameter `company`. */
  readonly byCompany?: true
  /** Visibility beyond companies and agencies, and refusals that need the parsed parameters. */
  readonly tests?: (request: EndpointRequest, query: ListQuery) => Test[]
  /** Last change to a record before field selection. */
  readonly present?: (record: StoredRecord, request: EndpointRequest) => StoredRecord
}

export interface ListQuery {
  readonly page: number
  readonly limit: number
  readonly fields?: readonly string[]
  readonly company?: readonly string[]
  readonly query?: string
  readonly from?: string
  readonly to?: string
  readonly dateField?: string
  readonly sortBy: string
  readonly sortOrder: SortOrder
  readonly [name: string]: unknown
}

export function listEndpoint(spec: ListSpec): Endpoint {
  const { includes = {}, hidden = [], present } = spec
  return endpoint({
    ...spec,
    isList: true,
    meta: pageMeta,
    onRequest: includedFields(includes),
    parameters: parametersOf(spec),
    answer: (request, parsed) => {
      const query = parsed as ListQuery
      const omitted = [...hidden, ...leftOut(includes, query)]
      return pageOf(matching(spec, request, query), query, row => {
        const shown = withoutFields(row, omitted)
        return present ? present(shown, request) : shown
      })
    },
  })
}

function parametersOf({ filters, sort, dates, ...spec }: ListSpec): z.ZodRawShape {
  return {
    ...pageParameters,
    fields: fieldsParameter,
    ...sortParameters(sort.fields, sort.by, sort.order),
    ...(spec.byCompany && { company: companiesParameter }),
    ...(spec.search && { query: searchParameter }),
    ...(dates && rangeParameters),
    ...(dates && dates.fields.length > 1 && { dateField: dateFieldParameter(dates.fields, dates.by) }),
    ...Object.fromEntries(
      Object.entries(filters).map(([name, { parameter, meaning }]) => [
        name,
        parameter.optional().describe(meaning(name)),
      ]),
    ),
    ...includeParameters(spec.includes ?? {}),
  }
}

function dateFieldParameter(fields: Names, by: string) {
  return z.enum(fields).default(by).describe('The date that from and to apply to.')
}

/** Filtered lists, by the identity of the sorted list: a change to the collection makes a new one. */
const filtered = new WeakMap<readonly StoredRecord[], Map<string, readonly StoredRecord[]>>()
const mostFiltered = 50

function matching(spec: ListSpec, request: EndpointRequest, query: ListQuery): readonly StoredRecord[] {
  const path = spec.sort.paths?.[query.sortBy] ?? query.sortBy
  const order = request.world.ordered(spec.collection, path, query.sortOrder)
  const tests = testsOf(spec, request, query)
  const all = order.records()
  const found = tests.length === 0 ? all : cached(all, cacheName(spec, request, query), tests)
  return shuffledTies(found, record => order.keyOf(record), request.shuffle)
}

function cacheName(spec: ListSpec, request: EndpointRequest, query: ListQuery): string {
  const { from, to, 'day-zone': zone } = request.options
  const asked = { ...query, page: 0, limit: 0, fields: 0 }
  return JSON.stringify([spec.path, request.key.key, asked, from, to, zone])
}

function cached(all: readonly StoredRecord[], name: string, tests: readonly Test[]): readonly StoredRecord[] {
  const known = filtered.get(all) ?? new Map<string, readonly StoredRecord[]>()
  filtered.set(all, known)
  const before = known.get(name)
  if (before) return before
  const found = all.filter(record => tests.every(test => test(record)))
  if (known.size >= mostFiltered) known.clear()
  known.set(name, found)
  return found
}

function testsOf(spec: ListSpec, request: EndpointRequest, query: ListQuery): Test[] {
  const tests = spec.within ? scopeTests(request.key, request.world, spec.within) : []
  if (spec.byCompany && query.company) {
    checkCompanies(request, query.company, 403)
    const wanted = new Set<unknown>(query.company)
    const read = pathReader(spec.within?.company ?? 'company.id')
    tests.push(record => wanted.has(read(record)))
  }
  for (const [name, filter] of Object.entries(spec.filters)) {
    if (query[name] !== undefined) tests.push(filter.test(query[name]))
  }
  if (spec.search && query.query) tests.push(matchesText(spec.search, query.query))
  if (spec.dates && (query.from !== undefined || query.to !== undefined)) {
    const isInRange = timestampRange(query, request.options)
    const read = pathReader(query.dateField ?? spec.dates.by)
    tests.push(record => isInRange(read(record)))
  }
  return [...tests, ...(spec.tests?.(request, query) ?? [])]
}
