/** GET /requisitions/recruitment-metrics: rows, or one of the two aggregates. */
import { z } from 'zod'
import type { Endpoint, EndpointRequest } from '../declare/endpoint.ts'
import {
  dayParameter,
  fieldsParameter,
  idParameter,
  idsParameter,
  oneOfParameter,
  pageParameters,
  parseParameters,
} from '../declare/parameters.ts'
import { anyOf, checkCompanies, scopeTests, type Test } from '../keys/scope.ts'
import { groupKeys } from '../metrics/groups.ts'
import type { MeasuredRequisition, MeasuredTimesheet } from '../metrics/measured.ts'
import { metricRows } from '../metrics/rows.ts'
import { timeToFill } from '../metrics/time-to-fill.ts'
import { workersOverHours } from '../metrics/workers-over-hours.ts'
import { pathReader, type StoredRecord } from '../records/record.ts'
import { selectFields } from '../records/select-fields.ts'
import { tracksStages } from './stage-tracking.ts'

const THRESHOLD_HOURS = 48

const parameters = {
  ...pageParameters,
  company: idsParameter.optional(),
  project: idParameter.optional(),
  agency: idsParameter.optional(),
  metric: oneOfParameter(['rows', 'timeToFill', 'workersOverHours']).default('rows'),
  groupBy: z
    .string()
    .default('all')
    .transform(text => text.split(','))
    .pipe(z.array(oneOfParameter(groupKeys)))
    .meta({ description: `One or more of ${groupKeys.join(', ')}, comma-separated.` }),
  hoursThreshold: z
    .string()
    .refine(text => /^\d{1,3}(\.\d+)?$/.test(text), 'is not a number')
    .transform(Number)
    .default(THRESHOLD_HOURS)
    .meta({ type: 'number', minimum: 0, exclusiveMaximum: 1000 }),
  from: dayParameter.optional(),
  to: dayParameter.optional(),
  sortBy: oneOfParameter(['createdAt', 'reqRef']).default('createdAt'),
  sortOrder: oneOfParameter(['asc', 'desc']).default('desc'),
  fields: fieldsParameter.optional(),
}

type MetricsQuery = z.infer<z.ZodObject<typeof parameters>>

export const recruitmentMetrics: Endpoint = {
  path: '/requisitions/recruitment-metrics',
  parameters,
  answer: request => {
    const query = parseParameters(parameters, request.query)
    const { page, limit, metric, fields } = query
    const visible = visibility(request, query)
    const { rows, meta } =
      metric === 'rows' ? metricRows(request, query, visible) : aggregate(request, query, visible)
    const shown = rows.slice((page - 1) * limit, page * limit).map(row => row())
    return {
      data: fields ? shown.map(row => selectFields(row, fields)) : shown,
      meta: { page, limit, total: rows.length, ...meta },
    }
  },
}

/** What may be counted: records of the key's companies that track stages, as far as they were asked for. */
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
  const { metric, groupBy, from, to, agency: agencies } = query
  const asked = { groupBy, from, to, agencies }
  const known = world.all(metric === 'timeToFill' ? 'requisitions' : 'timesheets').filter(visible)
  const rows: readonly object[] =
    metric === 'timeToFill'
      ? timeToFill(known as unknown as MeasuredRequisition[], asked, options)
      : workersOverHours(
          known as unknown as MeasuredTimesheet[],
          { ...asked, threshold: query.hoursThreshold },
          options,
        )
  return {
    rows: rows.map(row => () => row as StoredRecord),
    meta: {
      metric,
      groupBy: groupBy.join(','),
      ...(metric === 'timeToFill'
        ? { dateField: 'dateAccepted', outlierRule: 'IQR_1_5' }
        : { dateField: 'weekEnding' }),
    },
  }
}
