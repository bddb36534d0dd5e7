/** The metrics as the service computes them: reads its aggregates page by page and counts each request. */
import type { Client } from '../../api/client/client.ts'
import { BudgetSpent } from '../../lib/errors.ts'
import {
  type Figures,
  figureNames,
  type Grouping,
  groupingName,
  type Metric,
  type MetricQuery,
} from './metric-query.ts'

export interface TheirGroup {
  readonly groupBy: string
  /** As the service wrote it. */
  readonly group: Readonly<Record<string, unknown>>
  readonly figures: Figures
  readonly hoursField: string | undefined
}

export interface MetricAnswer {
  readonly query: AskedQuery
  readonly groups: readonly TheirGroup[]
  /** Whether every page was read: only then is an absent group known to be missing. */
  readonly isWhole: boolean
}

export type AskedQuery = Omit<MetricQuery, 'groupings'> & { readonly grouping: Grouping }

export interface Listing {
  readonly rows: readonly Record<string, unknown>[]
  /** Whether every page was read: only then is an absent record known to be missing at the source. */
  readonly isWhole: boolean
}

/** Sends requests from the budget for reconciliation, up to its limit. */
export interface Asker {
  /**
   * Throws BudgetSpent when the requests are used up, and whatever the client throws. An answer that was read to its end is
   * not asked for again: a calibration and the comparison after it want six of the same.
   */
  ask(query: AskedQuery, pages?: number): Promise<MetricAnswer>
  /** Rows of any list, of so many pages at most. */
  list(path: string, query: Readonly<Record<string, string>>, pages?: number): Promise<Listing>
  /** One record by id. */
  read(path: string): Promise<Record<string, unknown>>
  readonly requests: number
  readonly left: number
}

const path = '/requisitions/recruitment-metrics'
const rowsPerPage = 200

type Parameters = Record<string, string>

function parametersOf({ metric, grouping, threshold, ...range }: AskedQuery): Parameters {
  const given = Object.entries(range).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return {
    metric,
    groupBy: groupingName(grouping),
    ...Object.fromEntries(given),
    ...(metric === 'workersOverHours' && threshold !== undefined && { hoursThreshold: String(threshold) }),
  }
}

function figuresOf(row: Record<string, unknown>, metric: Metric): Figures {
  const flat = { ...row, ...(row.iqrBounds ?? {}), ...(row.values ?? {}) } as Record<string, unknown>
  const list = figureNames[metric].map(name => {
    const value = flat[name]
    return [name, typeof value === 'number' ? value : null]
  })
  return Object.fromEntries(list)
}

function groupOf(row: Record<string, unknown>, { metric, grouping }: AskedQuery): TheirGroup {
  const { hoursField } = (row.values ?? {}) as { hoursField?: unknown }
  return {
    groupBy: groupingName(grouping),
    group: (row.group ?? {}) as Record<string, unknown>,
    figures: figuresOf(row, metric),
    hoursField: typeof hoursField === 'string' ? hoursField : undefined,
  }
}

export function createAsker(client: Client, mostRequests: number): Asker {
  let requests = 0
  const whole = new Map<string, MetricAnswer>()
  const spend = (): void => {
    if (requests >= mostRequests) {
      throw new BudgetSpent({
        what: `the ${mostRequests} requests of the crosscheck are used`,
        next: 'raise --max-requests',
      })
    }
    requests += 1
  }
  const page = async (where: string, query: Parameters, number: number) => {
    spend()
    return client.getPage(where, { ...query, page: number, limit: rowsPerPage }, { purpose: 'reconcile' })
  }
  const list = async (where: string, query: Parameters, pages: number): Promise<Listing> => {
    const rows: Record<string, unknown>[] = []
    for (let number = 1; ; number += 1) {
      const { meta, records } = await page(where, query, number)
      const some = records() as Record<string, unknown>[]
      rows.push(...some)
      const isWhole = some.length === 0 || rows.length >= meta.total
      if (isWhole || number >= pages) return { rows, isWhole }
    }
  }
  return {
    async ask(query, pages = Number.POSITIVE_INFINITY) {
      const parameters = parametersOf(query)
      const name = JSON.stringify(parameters)
      const known = whole.get(name)
      if (known) return { ...known, query }
      const { rows, isWhole } = await list(path, parameters, pages)
      const answer = { query, groups: rows.map(row => groupOf(row, query)), isWhole }
      if (isWhole) whole.set(name, answer)
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
      return mostRequests - requests
    },
  }
}
