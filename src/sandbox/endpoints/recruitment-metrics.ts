/** GET /requisitions/recruitment-metrics: rows, or one of the two aggregates. */
import * as z from 'zod'
import { metricRows as declaredRows } from '../../contract/resources/metric-rows.ts'
import { type EndpointRequest, endpoint } from '../declare/endpoint.ts'
import { closed, list, type NamedSchema, refTo, text, whole } from '../declare/json-schema.ts'
import { pageOf } from '../declare/page.ts'
import {
  companiesParameter,
  fieldsParameter,
  idParameter,
  idsParameter,
  pageParameters,
  rangeParameters,
  sortParameters,
} from '../declare/parameters.ts'
import { recordOf } from '../declare/record-schema.ts'
import { anyOf, checkCompanies, scopeTests, type Test } from '../keys/scope.ts'
import { groupKeys } from '../metrics/groups.ts'
import type { MeasuredRequisition, MeasuredTimesheet } from '../metrics/measured.ts'
import { metricRows, tracksStages } from '../metrics/rows.ts'
import { timeToFill, timeToFillRow } from '../metrics/time-to-fill.ts'
import { workersOverHours, workersOverHoursRow } from '../metrics/workers-over-hours.ts'
import { pathReader, type StoredRecord } from '../records/record.ts'

const row = recordOf('RecruitmentMetricRow', declaredRows)
const metric: NamedSchema = {
  name: 'RecruitmentMetric',
  schema: {
    description: 'Which it is depends on `metric`.',
    anyOf: [row, timeToFillRow, workersOverHoursRow].map(refTo),
  },
  uses: [row, timeToFillRow, workersOverHoursRow],
  shape: row.shape,
}

const meta: NamedSchema = {
  name: 'MetricsMeta',
  schema: closed(
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

const defaultThreshold = 48

const parameters = {
  ...pageParameters,
  company: companiesParameter,
  project: idParameter.optional().describe('Id of the project.'),
  agency: idsParameter.optional().describe('Id of the agency, or several, comma-separated.'),
  metric: z
    .enum(['rows', 'timeToFill', 'workersOverHours'])
    .default('rows')
    .describe('Rows of requisitions and workers, or one of the two aggregates.'),
  groupBy: z
    .string()
    .default('all')
    .transform(keys => keys.split(','))
    .pipe(z.array(z.enum(groupKeys)))
    .describe(`How an aggregate is grouped: one or more of ${groupKeys.join(', ')}, comma-separated.`),
  hoursThreshold: z
    .string()
    .refine(hours => /^\d{1,3}(\.\d+)?$/.test(hours), 'is not a number')
    .transform(Number)
    .default(defaultThreshold)
    .meta({ type: 'number', minimum: 0, exclusiveMaximum: 1000 })
    .describe('Net hours a week that count as too many; for workersOverHours.'),
  ...rangeParameters,
  ...sortParameters(['createdAt', 'reqRef'], 'createdAt', 'desc'),
  fields: fieldsParameter,
}

type MetricsQuery = z.infer<z.ZodObject<typeof parameters>>

export const recruitmentMetrics = endpoint({
  path: '/requisitions/recruitment-metrics',
  keys: 'company',
  scope: 'read:projects',
  tool: 'list_recruitment_metrics',
  summary: 'Recruitment by requisition and worker, or time to fill, or workers over their hours.',
  returns: metric,
  isList: true,
  meta,
  parameters,
  answer: (request, query) => {
    const visible = visibility(request, query)
    const found =
      query.metric === 'rows' ? metricRows(request, query, visible) : aggregate(request, query, visible)
    const page = pageOf(found.rows, query, make => make())
    return { data: page.data, meta: { ...page.meta, ...found.meta } }
  },
})

/** Counts records of the key's companies that track stages, narrowed to the requested companies and project. */
function visibility(request: EndpointRequest, query: MetricsQuery): Test {
  const { key, world } = request
  if (query.company) checkCompanies(request, query.company, 403)
  const companyId = pathReader('company.id')
  const tests = [
    ...scopeTests(key, world, { company: 'company.id' }),
    (record: StoredRecord) => tracksStages(world, companyId(record)),
    ...(query.company ? [anyOf('company.id', query.company)] : []),
    ...(query.project === undefined ? [] : [anyOf('project.id', [query.project])]),
  ]
  return record => tests.every(test => test(record))
}

function aggregate({ world, options }: EndpointRequest, query: MetricsQuery, visible: Test) {
  const { metric: name, groupBy, from, to, agency: agencies } = query
  const asked = { groupBy, from, to, agencies }
  const known = world.all(name === 'timeToFill' ? 'requisitions' : 'timesheets').filter(visible)
  const rows: readonly object[] =
    name === 'timeToFill'
      ? timeToFill(known as unknown as MeasuredRequisition[], asked, options)
      : workersOverHours(
          known as unknown as MeasuredTimesheet[],
          { ...asked, threshold: query.hoursThreshold },
          options,
        )
  return {
    rows: rows.map(made => () => made as StoredRecord),
    meta: {
      metric: name,
      groupBy: groupBy.join(','),
      ...(name === 'timeToFill'
        ? { dateField: 'dateAccepted', outlierRule: 'IQR_1_5' }
        : { dateField: 'weekEnding' }),
    },
  }
}
