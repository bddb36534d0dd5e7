/** Serves GET /requisitions/{id} and GET /requisitions/recruitment-metrics: rows, or one of the two aggregates. */
import type * as z from 'zod'
import { operations } from '../../contract/operations.ts'
import { metricRows as declaredRows } from '../../contract/resources/metric-rows.ts'
import { requisitions } from '../../contract/resources/requisitions.ts'
import { type EndpointRequest, endpoint, readEndpoint } from '../declare/endpoint.ts'
import { pageOf } from '../declare/list.ts'
import { parametersOf } from '../declare/parameters.ts'
import { closed, integerSchema, list, type NamedSchema, recordOf, refTo, text } from '../declare/schemas.ts'
import {
  anyOf,
  checkCompanies,
  ownAgencies,
  type RecordTest,
  scopeTests,
  withOwnAnswers,
} from '../keys/scope.ts'
import { timeToFill, timeToFillRow, workersOverHours, workersOverHoursRow } from '../metrics/aggregates.ts'
import type { MeasuredRequisition, MeasuredTimesheet } from '../metrics/groups.ts'
import { metricRows, tracksStages } from '../metrics/rows.ts'
import { pathReader, type StoredRecord, withoutFields } from '../record.ts'

export const requisitionRead = readEndpoint({
  operation: operations.readRequisition,
  scope: 'read:projects',
  noun: 'requisition',
  returns: recordOf('Requisition', requisitions),
  collection: 'requisitions',
  within: { company: 'company.id', agency: 'agencies.id' },
  present: (requisition, request) => {
    const isTracked = tracksStages(request.world, (requisition.company as StoredRecord)?.id)
    const shown = withOwnAnswers(withoutFields(requisition, isTracked ? [] : ['stageTracking']), request)
    const own = ownAgencies(request)
    if (!own) return shown
    return {
      ...shown,
      agencies: listOf(shown.agencies).filter(row => own(row.id)),
      ...(shown.stageTracking === undefined
        ? {}
        : {
            stageTracking: listOf(shown.stageTracking).filter(row => own((row.agency as StoredRecord).id)),
          }),
    }
  },
})

function listOf(value: unknown): readonly StoredRecord[] {
  return (value ?? []) as readonly StoredRecord[]
}

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
      page: integerSchema,
      limit: integerSchema,
      total: integerSchema,
      metric: text,
      groupBy: { anyOf: [text, list(text)] },
      dateField: text,
      outlierRule: text,
    },
    { required: ['total'] },
  ),
}

const within = { company: 'company.id' }
const defaults = {
  metric: 'rows',
  groupBy: ['all'],
  hoursThreshold: 48,
  sortBy: 'createdAt',
  sortOrder: 'desc',
} as const

const parameters = parametersOf(
  {
    ...operations.listRecruitment.parameters,
    ...operations.workersOverHours.parameters,
    metric: ['rows', 'timeToFill', 'workersOverHours'],
  } as const,
  defaults,
)

type MetricsQuery = z.infer<z.ZodObject<typeof parameters>>

export const recruitmentMetrics = endpoint({
  path: '/requisitions/recruitment-metrics',
  keys: 'company',
  scope: 'read:projects',
  tool: 'list_recruitment_metrics',
  summary: 'Recruitment by requisition and worker, or time to fill, or workers over their hours.',
  returns: metric,
  isList: true,
  within,
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
function visibility(request: EndpointRequest, query: MetricsQuery): RecordTest {
  const { world } = request
  if (query.company) checkCompanies(request, query.company, 403)
  const companyId = pathReader('company.id')
  const tests = [
    ...scopeTests(request, within),
    (record: StoredRecord) => tracksStages(world, companyId(record)),
    ...(query.company ? [anyOf('company.id', query.company)] : []),
    ...(query.project === undefined ? [] : [anyOf('project.id', [query.project])]),
  ]
  return record => tests.every(test => test(record))
}

function aggregate({ world, options }: EndpointRequest, query: MetricsQuery, visible: RecordTest) {
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
