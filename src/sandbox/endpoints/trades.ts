/** GET /trades/{id}: the trade, with its rates and its part of the competency matrix when asked. */
import { trades } from '../../contract/resources/trades.ts'
import type { EndpointRequest } from '../declare/endpoint.ts'
import { readEndpoint } from '../declare/read.ts'
import { recordOf } from '../declare/record-schema.ts'
import { mayNameCompany } from '../keys/scope.ts'
import type { StoredRecord } from '../records/record.ts'
import { withoutFields } from '../records/select-fields.ts'
import { visibleRate } from './rates.ts'

export const tradeRead = readEndpoint({
  path: '/trades/:id',
  scope: 'read:trades',
  tool: 'get_trade',
  summary: 'One trade.',
  returns: recordOf('Trade', trades),
  collection: 'trades',
  noun: 'trade',
  includes: {
    includeRates: { field: 'rates', meaning: 'Adds the rates.' },
    includeCompetencyMatrix: {
      field: 'competencyMatrix',
      meaning: 'Adds the competency matrix, without overrides of projects.',
    },
  },
  tests: ({ key, world }) => [
    trade => mayNameCompany(key, world, String((trade.company as StoredRecord | undefined)?.id)),
  ],
  present: (trade, request, { includeRates, includeCompetencyMatrix }) => ({
    ...trade,
    ...(includeRates ? { rates: ratesOf(trade, request) } : {}),
    ...(includeCompetencyMatrix ? { competencyMatrix: matrixOf(trade, request) } : {}),
  }),
})

/** Only the single-rate resource names the trade and company of a rate and when it changed. */
function ratesOf(trade: StoredRecord, request: EndpointRequest): StoredRecord[] {
  const visible = visibleRate(request)
  return request.world
    .all('rates')
    .filter(rate => (rate.trade as StoredRecord | undefined)?.id === trade.id && visible(rate))
    .map(rate => withoutFields(rate, ['trade', 'company', 'createdAt', 'updatedAt']))
}

/** Project overrides stand only in the matrix of the company. */
function matrixOf(trade: StoredRecord, { world }: EndpointRequest): object[] {
  return world
    .all('competencyMatrix')
    .filter(entry => (entry.trade as StoredRecord).id === trade.id && entry.source !== 'project')
    .map(({ sector, requirements }) => ({ sector, requirements }))
}
