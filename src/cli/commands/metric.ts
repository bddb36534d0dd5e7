/** `muster metric NAME`: computes a recruitment metric from the warehouse, as the service defines it. */

import { openToRead } from '../../app/connection/warehouse.ts'
import { readDefinition } from '../../crosscheck/calibrate/definition-store.ts'
import type { MetricDefinition } from '../../crosscheck/metrics/definition.ts'
import { groupLabel, groupObject, type PartyNames, readNames } from '../../crosscheck/metrics/group-keys.ts'
import {
  figureNames,
  type Grouping,
  groupingOf,
  groupKeys,
  type MetricName,
  type MetricQuery,
  metrics,
} from '../../crosscheck/metrics/metric-query.ts'
import { type OurGroup, ourMetrics } from '../../crosscheck/metrics/our-metrics.ts'
import { counted } from '../../lib/counted.ts'
import { UsageError } from '../../lib/errors.ts'
import { choiceOf } from '../../lib/text/nearest.ts'
import { type CommandModule, numberOption, type Options, textOption } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { groupingOption, rangeOf, rangeOptions, thresholdOption } from '../metric-options.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'

export const command: CommandModule = {
  arguments: [{ name: '<metric>', summary: metrics.join(' or '), choices: metrics }],
  options: [
    {
      flags: '--group-by <keys>',
      summary: `all, or some of ${groupKeys.join(', ')}, separated by commas`,
      parse: groupingOption,
    },
    ...rangeOptions,
    thresholdOption,
  ],
  examples: [
    'muster metric timeToFill --group-by agency,month --from 2026-01-01 --to 2026-06-30',
    'muster metric workersOverHours --threshold 48 --group-by week',
    'muster metric timeToFill --json',
  ],
  notes: [
    '--from and --to select by the day of acceptance (timeToFill) or the end of the week (workersOverHours).',
  ],
  run: async (context, [name = ''], options) => {
    const query = queryOf(name, options)
    const { handle: engine } = await openToRead(context.stored(), context, { needs: 'data' })
    try {
      const { definition, id } = await readDefinition(engine)
      const names = await readNames(engine)
      const groups = await ourMetrics(engine, query, definition)
      print(context, { query, definition, names, groups, id })
      return 0
    } finally {
      await engine.close()
    }
  },
}

function queryOf(name: string, options: Options): MetricQuery {
  const metric = metrics.find(one => one === name)
  if (!metric) throw new UsageError({ what: `there is no metric ${name}`, next: choiceOf(name, metrics) })
  const grouping = groupingOf(textOption(options, 'groupBy') ?? 'all') as Grouping
  return { metric, groupings: [grouping], threshold: numberOption(options, 'threshold'), ...rangeOf(options) }
}

interface ShownMetric {
  readonly query: MetricQuery
  readonly definition: MetricDefinition
  readonly id: string
  readonly names: PartyNames
  readonly groups: readonly OurGroup[]
}

function print(context: CommandContext, { query, definition, id, names, groups }: ShownMetric): void {
  const rows = groups
    .map(own => ({ group: groupObject(own.keys, definition, names), own }))
    .map(row => ({ ...row, label: titleOf(row.group) || groupLabel(row.group) }))
    .sort((left, right) => (left.label < right.label ? -1 : left.label > right.label ? 1 : 0))
  if (context.json) {
    printJson(
      context,
      rows.map(({ group, own }) => rowOf(group, own.figures, { metric: query.metric, definition })),
    )
  } else {
    const [grouping = []] = query.groupings
    const keys = groupKeys.filter(key => grouping.includes(key))
    const figures = figureNames[query.metric]
    printTable(
      context,
      [...keys, ...figures.map((title, index) => ({ title, drop: lasting.indexOf(title) * 100 + index }))],
      rows.map(({ group, own }) => [
        ...keys.map(key => nameOf(group[key])),
        ...figures.map(figure => shortened(own.figures[figure])),
      ]),
    )
    printLine(context, `${counted(rows.length, 'group')}, definition ${id}`)
  }
}

/** On a narrow terminal these columns are kept longest, the last ones above all. */
const lasting: readonly string[] = [
  'totalHours',
  'workersOverThreshold',
  'count',
  'medianDays',
  'averageDays',
]

const nameOf = (value: unknown): string =>
  typeof value === 'object' && value !== null
    ? String((value as { name?: unknown }).name)
    : String(value ?? '')

const titleOf = (group: Readonly<Record<string, unknown>>): string =>
  Object.values(group).map(nameOf).join(' ')

/** Four decimals are enough on a screen; --json has all of them. */
const shortened = (value: number | null | undefined): number | null =>
  value === null || value === undefined ? null : Math.round(value * 10_000) / 10_000

/** Returns a row in the form of the service's rows. */
function rowOf(
  group: Record<string, unknown>,
  figures: OurGroup['figures'],
  { metric, definition }: { metric: MetricName; definition: MetricDefinition },
): object {
  if (metric === 'workersOverHours') {
    const { thresholdHours, ...rest } = figures
    return { group, values: { thresholdHours, hoursField: definition.hoursField, ...rest } }
  }
  const { rawCount, excludedOutliers, lower, upper, ...values } = figures
  return { group, rawCount, excludedOutliers, iqrBounds: { lower, upper }, values }
}
