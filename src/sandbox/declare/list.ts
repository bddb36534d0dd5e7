/** The list engine: one declaration of parameters, search, dates, sort and scope becomes one endpoint. */
import type { z } from 'zod'
import type { EndpointPath } from '../keys/access.ts'
import { checkCompanies, type ScopePaths, scopeTests, type Test } from '../keys/scope.ts'
import { pathReader, type StoredRecord } from '../records/record.ts'
import { selectFields, withoutFields } from '../records/select-fields.ts'
import type { SortOrder } from '../records/sorted-order.ts'
import { shuffledTies } from '../records/ties.ts'
import type { Collection } from '../world.ts'
import { timestampRange } from './day-range.ts'
import type { Endpoint, EndpointRequest } from './endpoint.ts'
import { type Filter, matchesText } from './filter.ts'
import {
  dayParameter,
  fieldsParameter,
  flagParameter,
  idsParameter,
  oneOfParameter,
  pageParameters,
  parseParameters,
  textParameter,
} from './parameters.ts'

type Names = readonly [string, ...string[]]

export interface ListSpec {
  readonly path: EndpointPath
  readonly collection: Collection
  readonly filters: Readonly<Record<string, Filter>>
  /** Fields of `query`. */
  readonly search?: readonly string[]
  /** Timestamps that `from` and `to` may apply to; `dateField` exists where there are several. */
  readonly dates?: { readonly fields: Names; readonly by: string }
  /** Values of `sortBy` that name another field than themselves are in `paths`. */
  readonly sort: {
    readonly fields: Names
    readonly by: string
    readonly order: SortOrder
    readonly paths?: Readonly<Record<string, string>>
  }
  /** Flag parameters, each with the field it adds. */
  readonly includes?: Readonly<Record<string, string>>
  /** Fields that are kept but never answered. */
  readonly hidden?: readonly string[]
  readonly scope?: ScopePaths
  /** The `company` parameter, where the endpoint has it. */
  readonly company?: 'none' | 'ids'
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
  const parameters = parametersOf(spec)
  return {
    path: spec.path,
    parameters,
    answer: request => {
      const query = parseParameters(parameters, request.query) as ListQuery
      const { page, limit } = query
      const found = matching(spec, request, query)
      const rows = found.slice((page - 1) * limit, page * limit)
      return {
        data: rows.map(row => presented(spec, request, { row, query })),
        meta: { page, limit, total: found.length },
      }
    },
  }
}

function parametersOf(spec: ListSpec): z.ZodRawShape {
  const { filters, sort, dates, includes = {} } = spec
  return {
    ...pageParameters,
    fields: fieldsParameter.optional(),
    sortBy: oneOfParameter(sort.fields).default(sort.by),
    sortOrder: oneOfParameter(['asc', 'desc']).default(sort.order),
    ...(spec.company === 'ids' ? { company: idsParameter.optional() } : {}),
    ...(spec.search ? { query: textParameter.optional() } : {}),
    ...(dates ? { from: dayParameter.optional(), to: dayParameter.optional() } : {}),
    ...(dates && dates.fields.length > 1
      ? { dateField: oneOfParameter(dates.fields).default(dates.by) }
      : {}),
    ...Object.fromEntries(
      Object.entries(filters).map(([name, filter]) => [name, filter.parameter.optional()]),
    ),
    ...Object.fromEntries(Object.keys(includes).map(name => [name, flagParameter.default(false)])),
  }
}

/** Filtered orders, by the identity of the order they come from: a changed collection makes a new one. */
const FILTERED_MAX = 50
const filtered = new WeakMap<readonly StoredRecord[], Map<string, readonly StoredRecord[]>>()

function matching(spec: ListSpec, request: EndpointRequest, query: ListQuery): readonly StoredRecord[] {
  const path = spec.sort.paths?.[query.sortBy] ?? query.sortBy
  const order = request.world.ordered(spec.collection, path, query.sortOrder)
  const tests = testsOf(spec, request, query)
  const all = order.records()
  const found = tests.length === 0 ? all : cached(all, cacheName(spec, request, query), tests)
  return shuffledTies(found, record => order.keyOf(record), request.shuffle)
}

function cacheName(spec: ListSpec, request: EndpointRequest, query: ListQuery): string {
  return JSON.stringify([spec.path, request.key.key, { ...query, page: 0, limit: 0, fields: 0 }])
}

function cached(all: readonly StoredRecord[], name: string, tests: readonly Test[]): readonly StoredRecord[] {
  const known = filtered.get(all) ?? new Map<string, readonly StoredRecord[]>()
  filtered.set(all, known)
  const held = known.get(name)
  if (held) return held
  const found = all.filter(record => tests.every(test => test(record)))
  if (known.size >= FILTERED_MAX) known.clear()
  known.set(name, found)
  return found
}

function testsOf(spec: ListSpec, request: EndpointRequest, query: ListQuery): Test[] {
  const tests = spec.scope ? scopeTests(request.key, request.world, spec.scope) : []
  if (spec.company === 'ids' && query.company) {
    checkCompanies(request, query.company, 403)
    const wanted = new Set<unknown>(query.company)
    const read = pathReader(spec.scope?.company ?? 'company.id')
    tests.push(record => wanted.has(read(record)))
  }
  for (const [name, filter] of Object.entries(spec.filters)) {
    if (query[name] !== undefined) tests.push(filter.test(query[name]))
  }
  if (spec.search && query.query) tests.push(matchesText(spec.search, query.query))
  if (spec.dates && (query.from !== undefined || query.to !== undefined)) {
    const inRange = timestampRange(query, request.options)
    const read = pathReader(query.dateField ?? spec.dates.by)
    tests.push(record => inRange(read(record)))
  }
  return [...tests, ...(spec.tests?.(request, query) ?? [])]
}

function presented(
  spec: ListSpec,
  request: EndpointRequest,
  { row, query }: { row: StoredRecord; query: ListQuery },
): StoredRecord {
  const left = Object.entries(spec.includes ?? {}).flatMap(([name, field]) => (query[name] ? [] : [field]))
  const shown = withoutFields(row, [...(spec.hidden ?? []), ...left])
  const record = spec.present ? spec.present(shown, request) : shown
  return query.fields ? selectFields(record, query.fields) : record
}
