/** The rows of the two aggregate metrics, which no resource declares: Muster computes its own. */
import { groupKeys } from '../metrics/groups.ts'
import { closed, type JsonSchema, list, named, number, orNull, text, whole } from './json-schema.ts'

const days = ['averageDays', 'medianDays', 'minDays', 'maxDays', 'p25Days', 'p75Days']
const counts = ['workerWeeks', 'workersOverThreshold', 'distinctWorkersOverThreshold']
const hours = ['thresholdHours', 'totalHours', 'averageWeeklyHours', 'maxWeeklyHours']

const each = (names: readonly string[], schema: JsonSchema) =>
  Object.fromEntries(names.map(name => [name, schema]))

/** A company, project or agency, or the text of a week or month; which form is a choice of the service. */
const groupValue: JsonSchema = { anyOf: [named('Ref'), { type: ['string', 'null'] }] }

const group = closed(
  each(
    groupKeys.filter(key => key !== 'all'),
    groupValue,
  ),
  {
    required: [],
    description: 'The keys of the group; empty when everything is one group.',
  },
)

const timeToFillRow = closed(
  {
    group,
    rawCount: whole,
    excludedOutliers: whole,
    iqrBounds: closed({ lower: orNull(number), upper: orNull(number) }),
    values: closed({ count: whole, ...each(days, orNull(number)) }),
  },
  { required: [], description: 'Days from approval to the acceptance of a supplier, without outliers.' },
)

const workersOverHoursRow = closed(
  { group, values: closed({ ...each(hours, number), hoursField: text, ...each(counts, whole) }) },
  { required: [], description: 'Weeks in which workers did more hours than the threshold.' },
)

export const metricSchemas: Readonly<Record<string, JsonSchema>> = {
  TimeToFillRow: timeToFillRow,
  WorkersOverHoursRow: workersOverHoursRow,
  RecruitmentMetric: {
    description: 'Which it is depends on `metric`.',
    anyOf: ['RecruitmentMetricRow', 'TimeToFillRow', 'WorkersOverHoursRow'].map(named),
  },
  MetricsMeta: closed(
    {
      page: whole,
      limit: whole,
      total: whole,
      metric: text,
      groupBy: { anyOf: [text, list(text)] },
      dateField: text,
      outlierRule: text,
    },
    { required: ['total'] },
  ),
}
