/** GET /requisitions/recruitment-metrics, in row mode. */
import { z } from 'zod'
import { oneOfParameter } from '../parameters.ts'
import { byId, byIds } from './filter.ts'
import { listEndpoint } from './list.ts'

/** Valid in every mode, without effect on rows. */
const everything = () => () => true
const groupByParameter = z
  .string()
  .transform(text => text.split(','))
  .pipe(z.array(oneOfParameter(['all', 'company', 'project', 'agency', 'month', 'week'])))
const thresholdParameter = z.string().regex(/^\d{1,3}(\.\d+)?$/, 'is not a number')

export const recruitmentMetrics = listEndpoint({
  path: '/requisitions/recruitment-metrics',
  collection: 'metricRows',
  scope: { company: 'companyId' },
  company: 'ids',
  filters: {
    project: byId('projectId'),
    agency: byIds('agencyId'),
    metric: { parameter: oneOfParameter(['rows']), test: everything },
    groupBy: { parameter: groupByParameter, test: everything },
    hoursThreshold: { parameter: thresholdParameter, test: everything },
  },
  dates: { fields: ['created'], by: 'created' },
  sort: {
    fields: ['createdAt', 'reqRef'],
    by: 'createdAt',
    order: 'desc',
    paths: { createdAt: 'created' },
  },
  hidden: ['id', 'companyId', 'projectId', 'agencyId', 'created'],
})
