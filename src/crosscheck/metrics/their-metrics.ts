/** The metrics as the service computes them: reads its aggregates page by page and counts each request. */
import type { Client } from '../../api/client/client.ts'
import { BudgetSpent } from '../../lib/errors.ts'
import {
  figureNames,
  type Grouping,
  groupingName,
  type MetricFigures,
  type MetricName,
  type MetricQuery,
} from './metric-query.ts'

export interface TheirGroup {
  readonly groupBy: string
  /** As the service wrote it. */
  readonly group: Readonly<Record<string, unknown>>
  readonly figures: MetricFigures
  readonly hoursField: string | undefined
}

export interface MetricAnswer {
  readonly query: GroupingQuery
  readonly groups: readonly TheirGroup[]
  /** Whether every page was read: only then is an absent group known to be missing. */
  readonly isComplete: boolean
}

export type GroupingQuery = Omit<MetricQuery, 'groupings'> & { readonly grouping: Grouping }

export interface ListedRows {
  readonly rows: readonly Record<string, unknown>[]
  /** Whether every page was read: only then is an absent record known to be missing at the source. */
  readonly isComplete: boolean
}

/** Sends requests from the budget for reconciliation, up to its limit. */
export interface MetricClient {
  /**
   * Throws BudgetSpent when the requests are used up, and any error of the client. Reuses a complete answer: a
   * calibration and the comparison after it need six of the same.
   */
  ask(query: GroupingQuery, pages?: number): Promise<MetricAnswer>
  /** Rows of any list, from at most `pages` pages. */
  list(path: string, query: Readonly<Record<string, string>>, pages?: number): Promise<ListedRows>
  /** One record by id. */
  read(path: string): Promise<Record<string, unknown>>
  readonly requests: number
  readonly left: number
}

const path = '/requisitions/recruitment-metrics'
const rowsPerPage = 200

type QueryParameters = Record<string, string>

function parametersOf({ metric, grouping, threshold, ...range }: GroupingQuery): QueryParameters {
  const given = Object.entries(range).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return {
    metric,
    groupBy: groupingName(grouping),
    ...Object.fromEntries(given),
    ...(metric === 'workersOverHours' && threshold !== undefined && { hoursThreshold: String(threshold) }),
  }
}

function figuresOf(row: Record<string, unknown>, metric: MetricName): MetricFigures {
  const flat = { ...row, ...(row.iqrBounds ?? {}), ...(row.values ?? {}) } as Record<string, unknown>
  const list = figureNames[metric].map(name => {
    const value = flat[name]
    return [name, typeof value === 'number' ? value : null]
  })
  return Object.fromEntries(list)
}

function groupOf(row: Record<string, unknown>, { metric, grouping }: GroupingQuery): TheirGroup {
  const { hoursField } = (row.values ?? {}) as { hoursField?: unknown }
  return {
    groupBy: groupingName(grouping),
    group: (row.group ?? {}) as Record<string, unknown>,
    figures: figuresOf(row, metric),
    hoursField: typeof hoursField === 'string' ? hoursField : undefined,
  }
}

export function createAsker(client: Client, maxRequests: number): MetricClient {
  let requests = 0
  const completeAnswers = new Map<string, MetricAnswer>()
  const spend = (): void => {
    if (requests >= maxRequests) {
      throw new BudgetSpent({
        what: `the ${maxRequests} requests of the crosscheck are used`,
        next: 'raise --max-requests',
      })
    }
    requests += 1
  }
  const page = async (where: string, query: QueryParameters, number: number) => {
    spend()
    return client.getPage(where, { ...query, page: number, limit: rowsPerPage }, { purpose: 'reconcile' })
  }
  const list = async (where: string, query: QueryParameters, pages: number): Promise<ListedRows> => {
    const rows: Record<string, unknown>[] = []
    for (let number = 1; ; number += 1) {
      const { meta, records } = await page(where, query, number)
      const some = records() as Record<string, unknown>[]
      rows.push(...some)
      const isComplete = some.length === 0 || rows.length >= meta.total
      if (isComplete || number >= pages) return { rows, isComplete }
    }
  }
  return {
    async ask(query, pages = Number.POSITIVE_INFINITY) {
      const parameters = parametersOf(query)
      const name = JSON.stringify(parameters)
      const known = completeAnswers.get(name)
      if (known) return { ...known, query }
      const { rows, isComplete } = await list(path, parameters, pages)
      const answer = { query, groups: rows.map(row => groupOf(row, query)), isComplete }
      if (isComplete) completeAnswers.set(name, answer)
      return answer
    },
    list: (where, query, pages = 1) => list(where, { ...query }, pages),
    async read(where) {
      spend()
      return (await client.getRecord(where, {}, { purpose: 'reconcile' })).record
    },
    get requests() {
      return requests
    },
    get left() {
      return maxRequests - requests
    },
  }
}
