/** Both sides of a crosscheck in memory: our figures of some records, and a service that answers with its own. */
import {
  type Acceptance,
  acceptancesOf,
  servedRequisition,
} from '../../src/crosscheck/explain/requisitions.ts'
import { countedOf, listedSheet } from '../../src/crosscheck/explain/sheets.ts'
import type { MetricDefinition } from '../../src/crosscheck/metrics/definition.ts'
import type { Keys, PartyNames } from '../../src/crosscheck/metrics/group-keys.ts'
import {
  figureNames,
  type GroupKey,
  groupingName,
  groupKeys,
  type MetricFigures,
  type MetricQuery,
} from '../../src/crosscheck/metrics/metric-query.ts'
import type { GroupMeasure, OurGroup } from '../../src/crosscheck/metrics/our-metrics.ts'
import type { GroupingQuery, MetricClient } from '../../src/crosscheck/metrics/their-metrics.ts'
import { BudgetSpent } from '../../src/lib/errors.ts'
import { groupBy } from '../../src/lib/group-by.ts'
import type { Ref } from '../../src/sandbox/data/identity.ts'
import { timeToFill, workersOverHours } from '../../src/sandbox/metrics/aggregates.ts'
import {
  type MeasuredRequisition,
  type MeasuredTimesheet,
  quantile,
} from '../../src/sandbox/metrics/groups.ts'
import { type ContractOptions, optionsOf } from '../../src/sandbox/options.ts'

export interface World {
  readonly requisitions: readonly object[]
  readonly timesheets: readonly object[]
}

type Member = { readonly keys: Keys }

type Grouped<One> = Omit<OurGroup, 'figures'> & { readonly members: readonly One[] }

function groupsOf<One extends Member>(
  members: readonly One[],
  grouping: readonly GroupKey[],
): readonly Grouped<One>[] {
  const used = groupKeys.filter(key => grouping.includes(key))
  const groups = groupBy(members, ({ keys }) => used.map(key => keys[key] ?? '').join('|'))
  return [...groups].map(([groupKey, own]) => ({
    ...{ groupBy: groupingName(grouping), groupKey, members: own },
    keys: Object.fromEntries(used.map(key => [key, (own[0] as One).keys[key] ?? ''])),
  }))
}

/** The groups of each grouping; once for definitions that count the same records in the same places. */
function grouping<One extends Member>(
  membersOf: (definition: MetricDefinition, query: MetricQuery) => readonly One[],
) {
  const known = new Map<string, readonly Grouped<One>[]>()
  return (definition: MetricDefinition, query: MetricQuery): readonly Grouped<One>[] => {
    const name = JSON.stringify([query, whatCounts(definition)])
    const found = known.get(name) ?? query.groupings.flatMap(by => groupsOf(membersOf(definition, query), by))
    known.set(name, found)
    return found
  }
}

/** A definition without what decides only how figures are computed, or how keys are written. */
function whatCounts({
  quantiles,
  valueQuantiles,
  bounds,
  minForRule,
  threshold,
  daysDecimals,
  hoursDecimals,
  weekKey,
  monthKey,
  refKey,
  ...counts
}: MetricDefinition) {
  return counts
}

const rounding = (decimals: number | null) => (value: number | undefined) =>
  value === undefined
    ? null
    : decimals === null
      ? value
      : Math.floor(value * 10 ** decimals + 0.5) / 10 ** decimals

function at(
  sorted: readonly number[],
  share: number,
  method: MetricDefinition['quantiles'],
): number | undefined {
  if (sorted.length === 0) return undefined
  return method === 'floorIndex' ? sorted[Math.floor(share * sorted.length)] : quantile(sorted, share, method)
}

function fillFigures(members: readonly Acceptance[], definition: MetricDefinition): MetricFigures {
  const { quantiles, valueQuantiles, bounds, minForRule, daysDecimals } = definition
  const sorted = members.map(({ days }) => days).sort((left, right) => left - right)
  const [first, third] = [at(sorted, 0.25, quantiles) ?? 0, at(sorted, 0.75, quantiles) ?? 0]
  const reach = 1.5 * (third - first)
  const isRuled = sorted.length >= minForRule
  const [low, high] = [first - reach, third + reach]
  const isKept = (value: number) =>
    bounds === 'inclusive' ? value >= low && value <= high : value > low && value < high
  const kept = isRuled ? sorted.filter(isKept) : sorted
  const show = rounding(daysDecimals)
  const sum = kept.reduce((total, value) => total + value, 0)
  const shown = (share: number) => show(at(kept, share, valueQuantiles))
  return {
    ...{ rawCount: sorted.length, excludedOutliers: sorted.length - kept.length },
    ...{ lower: isRuled ? show(low) : null, upper: isRuled ? show(high) : null, count: kept.length },
    averageDays: show(kept.length === 0 ? undefined : sum / kept.length),
    ...{ medianDays: shown(0.5), minDays: show(kept[0]), maxDays: show(kept.at(-1)) },
    ...{ p25Days: shown(0.25), p75Days: shown(0.75) },
  }
}

interface Hours extends Member {
  readonly worker: string
  readonly hours: number
}

function hoursFigures(
  members: readonly Hours[],
  definition: MetricDefinition,
  threshold: number,
): MetricFigures {
  const weeks = new Map<string, number>()
  for (const { worker, hours } of members) weeks.set(worker, (weeks.get(worker) ?? 0) + hours)
  const isOver = (hours: number) =>
    hours > threshold || (definition.threshold === 'at' && hours === threshold)
  const over = [...weeks].filter(([, hours]) => isOver(hours)).map(([name]) => name)
  const total = [...weeks.values()].reduce((sum, hours) => sum + hours, 0)
  const show = rounding(definition.hoursDecimals)
  return {
    ...{ thresholdHours: threshold, workerWeeks: weeks.size, workersOverThreshold: over.length },
    distinctWorkersOverThreshold: new Set(over.map(name => name.split(' ')[0])).size,
    ...{ totalHours: show(total), averageWeeklyHours: show(total / weeks.size) },
    maxWeeklyHours: show(Math.max(...weeks.values())),
  }
}

/** Our figures, and how many definitions were computed. */
export function measureOf({ requisitions, timesheets }: World): GroupMeasure & { computed: number } {
  const fills = requisitions.map(record => servedRequisition(record as Record<string, unknown>))
  const fillGroups = grouping((definition, query) =>
    fills.flatMap(one => acceptancesOf(one, definition, query)),
  )
  const hoursGroups = grouping((definition, query) =>
    timesheets.flatMap((record, index): Hours[] => {
      const sheet = listedSheet(record as Record<string, unknown>, definition)
      const own = definition.workerWeek === 'timesheet' ? index : ''
      return countedOf(sheet, definition, query).map(({ keys, amount }) => ({
        keys,
        worker: `${sheet.worker} ${definition.workerWeek === 'calendarWeek' ? keys.week : sheet.weekEnding} ${own}`,
        hours: amount,
      }))
    }),
  )
  const measure: GroupMeasure = async (query, definitions) =>
    definitions.map(definition => {
      counting.computed += 1
      if (query.metric === 'timeToFill') {
        const groups = fillGroups(definition, query)
        return groups.map(({ members, ...rest }) => ({ ...rest, figures: fillFigures(members, definition) }))
      }
      const threshold = query.threshold ?? 48
      const groups = hoursGroups(definition, query)
      return groups.map(({ members, ...rest }) => ({
        ...rest,
        figures: hoursFigures(members, definition, threshold),
      }))
    })
  const counting = Object.assign(measure, { computed: 0 })
  return counting
}

function namesIn({ requisitions, timesheets }: World, kind: 'company' | 'project'): Map<string, string> {
  const refs = [...requisitions, ...timesheets].flatMap(
    record => (record as Record<string, Ref | null>)[kind] ?? [],
  )
  return new Map(refs.map(({ id, name }) => [id, name]))
}

export function namesOf(world: World): PartyNames {
  const parties = world.requisitions.flatMap(record => (record as { agencies?: Ref[] }).agencies ?? [])
  const hirers = world.timesheets.flatMap(record => (record as { agency?: Ref }).agency ?? [])
  return {
    ...{ company: namesIn(world, 'company'), project: namesIn(world, 'project') },
    agency: new Map([...parties, ...hirers].map(({ id, name }) => [id, name])),
  }
}

const isOf = (record: object, query: GroupingQuery) =>
  (['company', 'project'] as const).every(
    key => query[key] === undefined || (record as Record<string, Ref>)[key]?.id === query[key],
  )

function rowsOf(
  world: World,
  query: GroupingQuery,
  options: ContractOptions,
): readonly Record<string, unknown>[] {
  const { from, to, agency, threshold = 48 } = query
  const by = { groupBy: query.grouping, from, to, ...(agency !== undefined && { agencies: [agency] }) }
  return query.metric === 'timeToFill'
    ? timeToFill(world.requisitions.filter(one => isOf(one, query)) as MeasuredRequisition[], by, options)
    : workersOverHours(
        world.timesheets.filter(one => isOf(one, query)) as MeasuredTimesheet[],
        { ...by, threshold },
        options,
      )
}

export interface Service extends MetricClient {
  readonly asked: GroupingQuery[]
  readonly reads: string[]
  readonly lists: { readonly path: string; readonly query: Readonly<Record<string, string>> }[]
}

export interface ServiceParts {
  readonly options?: Partial<ContractOptions>
  /** Requests it may be sent. */
  readonly limit?: number
  readonly rowsPerPage?: number
  readonly list?: (
    path: string,
    query: Readonly<Record<string, string>>,
  ) => readonly Record<string, unknown>[]
  readonly read?: (path: string) => Record<string, unknown>
}

/** A service that holds these records and computes its metrics by these options. */
export function serviceOf(world: World, parts: ServiceParts = {}): Service {
  const { options, limit = 1000, rowsPerPage = 200 } = parts
  const chosen = optionsOf(options)
  const asked: GroupingQuery[] = []
  const reads: string[] = []
  const lists: { path: string; query: Readonly<Record<string, string>> }[] = []
  let requests = 0
  const pagesOf = <Row>(rows: readonly Row[], pages: number) => {
    const needed = Math.max(1, Math.ceil(rows.length / rowsPerPage))
    const count = Math.min(needed, Math.max(1, pages))
    if (requests + count > limit)
      throw new BudgetSpent({ what: 'the requests are used', next: 'ask for more' })
    requests += count
    return { rows: rows.slice(0, count * rowsPerPage), isComplete: count === needed }
  }
  return {
    ...{ asked, reads, lists },
    async ask(query, pages = Infinity) {
      const { rows, isComplete } = pagesOf(rowsOf(world, query, chosen), pages)
      asked.push(query)
      const names: readonly string[] = figureNames[query.metric]
      const groups = rows.map(({ group, iqrBounds, values, ...rest }) => {
        const flat = { ...rest, ...(iqrBounds ?? {}), ...(values as object) } as Record<string, unknown>
        return {
          ...{ groupBy: groupingName(query.grouping), group: group as Record<string, unknown> },
          figures: Object.fromEntries(names.map(name => [name, (flat[name] ?? null) as number | null])),
          hoursField: flat.hoursField as string | undefined,
        }
      })
      return { query, groups, isComplete }
    },
    async list(path, query, pages = 1) {
      const found = pagesOf(parts.list?.(path, query) ?? [], pages)
      lists.push({ path, query })
      return found
    },
    async read(path) {
      pagesOf([path], 1)
      reads.push(path)
      if (!parts.read) throw new Error(`no record at ${path}`)
      return parts.read(path)
    },
    get requests() {
      return requests
    },
    get left() {
      return limit - requests
    },
  }
}
