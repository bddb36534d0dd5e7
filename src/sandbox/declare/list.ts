/** Makes list endpoints: an operation of the contract with search, sort and visibility becomes one endpoint. */
import type { Operation, ParameterKind } from '../../contract/fields/operation.ts'
import { dayMs } from '../../lib/dates.ts'
import { shiftOf } from '../../lib/zones.ts'
import { anyOf, checkCompanies, type RecordTest, testsWithin, type VisibleRecords } from '../keys/scope.ts'
import type { ContractOptions } from '../options.ts'
import { pathReader, type StoredRecord, selectFields, valuesAt, withoutFields } from '../record.ts'
import { type SortOrder, shuffledTies } from '../sorted-order.ts'
import type { CollectionName } from '../world.ts'
import { type Endpoint, type EndpointDescription, type EndpointRequest, endpoint } from './endpoint.ts'
import { isActivity, leftOut, parametersOf } from './parameters.ts'
import { closed, integerSchema, type NamedSchema } from './schemas.ts'

interface ListSpec extends Omit<EndpointDescription, 'path' | 'tool'> {
  /** Parameters that not all lists have are filters. */
  readonly operation: Operation
  readonly collection: CollectionName
  /** Paths of filters and of `sortBy`, if not `worker.id` for `worker`, or the field itself. */
  readonly paths?: Readonly<Record<string, string>>
  /** Fields of `query`. */
  readonly search: readonly string[]
  /** The timestamp that `from` and `to` apply to unless `dateField` names another. */
  readonly datedBy?: string
  readonly sort: readonly [by: string, order: SortOrder]
  /** Fields that are stored but never sent. */
  readonly hidden?: readonly string[]
  readonly within: VisibleRecords
  /** Refusals that need the parsed parameters; by default, refuses companies outside the key's own. */
  readonly check?: (request: EndpointRequest, query: ListQuery) => void
  /** Adapts a record for the answer, before field selection. */
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

const defaultDate = 'createdAt'

export function listEndpoint(spec: ListSpec): Endpoint {
  const { operation, sort, datedBy = defaultDate, hidden = [], present } = spec
  const { path, parameters: takes } = operation
  return endpoint({
    ...spec,
    path,
    tool: `list_${path.slice(1)}`,
    isList: true,
    meta: pageMeta,
    onRequest: leftOut(takes),
    parameters: parametersOf(takes, { sortBy: sort[0], sortOrder: sort[1], dateField: datedBy }),
    answer: (request, parsed) => {
      const query = parsed as unknown as ListQuery
      const omitted = [...hidden, ...leftOut(takes, query)]
      return pageOf(matching(spec, request, query), query, row => {
        const shown = withoutFields(row, omitted)
        return present ? present(shown, request) : shown
      })
    },
  })
}

/** Filtered lists, by the identity of the sorted list: a change to the collection makes a new one. */
const filtered = new WeakMap<readonly StoredRecord[], Map<string, readonly StoredRecord[]>>()
const maxFiltered = 50

function matching(spec: ListSpec, request: EndpointRequest, query: ListQuery): readonly StoredRecord[] {
  const path = spec.paths?.[query.sortBy] ?? query.sortBy
  const order = request.world.ordered(spec.collection, path, query.sortOrder)
  const tests = testsOf(spec, request, query)
  const all = order.records()
  const found = tests.length === 0 ? all : cached(all, cacheName(spec, request, query), tests)
  return shuffledTies(found, record => order.keyOf(record), request.shuffle)
}

function cacheName(spec: ListSpec, request: EndpointRequest, query: ListQuery): string {
  const { from, to, 'day-zone': zone } = request.options
  const asked = { ...query, page: 0, limit: 0, fields: 0 }
  return JSON.stringify([spec.operation.path, request.key.key, asked, from, to, zone])
}

function cached(
  all: readonly StoredRecord[],
  name: string,
  tests: readonly RecordTest[],
): readonly StoredRecord[] {
  const known = filtered.get(all) ?? new Map<string, readonly StoredRecord[]>()
  filtered.set(all, known)
  const before = known.get(name)
  if (before) return before
  const found = all.filter(record => tests.every(test => test(record)))
  if (known.size >= maxFiltered) known.clear()
  known.set(name, found)
  return found
}

function testsOf(spec: ListSpec, request: EndpointRequest, query: ListQuery): RecordTest[] {
  const { check = checkOwnCompanies } = spec
  check(request, query)
  const tests = [...testsWithin(spec.within, request), ...filtersOf(spec, query)]
  if (query.query) tests.push(matchesText(spec.search, query.query))
  if (query.from !== undefined || query.to !== undefined) {
    const isInRange = timestampRange(query, request.options)
    const read = pathReader(query.dateField ?? spec.datedBy ?? defaultDate)
    tests.push(record => isInRange(read(record)))
  }
  return tests
}

function checkOwnCompanies(request: EndpointRequest, { company = [] }: ListQuery): void {
  checkCompanies(request, company, 403)
}

/** Parameters of lists that are not filters. */
const common = /^(page|limit|fields|sortBy|sortOrder|query|from|to|dateField|include[A-Z]\w+)$/

function filtersOf({ operation, paths = {} }: ListSpec, query: ListQuery): RecordTest[] {
  const filters = Object.entries(operation.parameters).filter(([name]) => !common.test(name))
  return filters.flatMap(([name, kind]) => {
    const value = query[name]
    if (value === undefined) return []
    if (isActivity(kind)) return [isActive(value === 'active')]
    return [anyOf(paths[name] ?? pathOf(name, kind), [value].flat() as string[])]
  })
}

const pathOf = (name: string, kind: ParameterKind) => (kind === 'id' || kind === 'ids' ? `${name}.id` : name)

/** A record counts as active unless explicitly inactive. */
const isActive =
  (wanted: boolean): RecordTest =>
  record =>
    (record.active !== false) === wanted

/** Case-insensitive "contains" over several fields. */
export function matchesText(paths: readonly string[], text: string): RecordTest {
  const wanted = text.toLowerCase()
  const readers = paths.map(pathReader)
  return record =>
    readers.some(read =>
      valuesAt(record, read).some(value => typeof value === 'string' && value.toLowerCase().includes(wanted)),
    )
}

export const pageMeta: NamedSchema = {
  name: 'PageMeta',
  schema: closed({ page: integerSchema, limit: integerSchema, total: integerSchema }),
}

/** Rows are presented only when they are on the page. */
export function pageOf<Row>(
  rows: readonly Row[],
  {
    page,
    limit,
    fields,
  }: Pick<ListQuery, 'page' | 'limit'> & { readonly fields?: readonly string[] | undefined },
  present: (row: Row) => StoredRecord,
) {
  const data = rows.slice((page - 1) * limit, page * limit).map(present)
  return {
    data: fields ? data.map(record => selectFields(record, fields)) : data,
    meta: { page, limit, total: rows.length },
  }
}

/** The filter `from` to `to`: days of a zone; the options decide whether each of them belongs to the range. */
export interface DayRange {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** Whether an instant lies in the range. */
export function instantRange({ from, to }: DayRange, options: ContractOptions): (timeMs: number) => boolean {
  const first = from === undefined ? -Infinity : midnight(from) + (options.from === 'inclusive' ? 0 : dayMs)
  const end = to === undefined ? Infinity : endOf(midnight(to), options.to)
  const shift = shiftOf(options['day-zone'])
  return timeMs => {
    const shown = timeMs + shift(timeMs)
    return shown >= first && shown < end
  }
}

/** The same for a timestamp; an absent one is outside every range. */
function timestampRange(days: DayRange, options: ContractOptions): (timestamp: unknown) => boolean {
  const isInRange = instantRange(days, options)
  return timestamp => typeof timestamp === 'string' && isInRange(Date.parse(timestamp))
}

/** The first instant outside the range; timestamps are whole milliseconds. */
function endOf(day: number, to: ContractOptions['to']): number {
  return to === 'inclusive' ? day + dayMs : to === 'midnight' ? day + 1 : day
}

function midnight(day: string): number {
  return Date.parse(`${day}T00:00:00.000Z`)
}
