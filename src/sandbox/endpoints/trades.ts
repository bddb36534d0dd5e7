/** Serves GET /trades/{id}, with rates and its part of the competency matrix on request, and GET /rates/{id}. */
import { operations } from '../../contract/operations.ts'
import { rates } from '../../contract/resources/rates.ts'
import { trades } from '../../contract/resources/trades.ts'
import { type EndpointRequest, readEndpoint } from '../declare/endpoint.ts'
import { recordOf } from '../declare/schemas.ts'
import type { KeyInWorld } from '../keys/keys.ts'
import { isLinked, mayNameCompany, ownAgencies, type RecordTest } from '../keys/scope.ts'
import { type StoredRecord, withoutFields } from '../record.ts'

export const tradeRead = readEndpoint({
  operation: operations.readTrade,
  scope: 'read:trades',
  noun: 'trade',
  returns: recordOf('Trade', trades),
  collection: 'trades',
  within: ({ key, world }) => [
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

/** Project overrides are only in the matrix of the company. */
function matrixOf(trade: StoredRecord, { world }: EndpointRequest): object[] {
  return world
    .all('competencyMatrix')
    .filter(entry => (entry.trade as StoredRecord).id === trade.id && entry.source !== 'project')
    .map(({ sector, requirements }) => ({ sector, requirements }))
}

export const rateRead = readEndpoint({
  operation: operations.readRate,
  scope: 'read:rates',
  noun: 'rate',
  summary: 'One rate. Agency keys see generic ones and their own.',
  returns: recordOf('Rate', rates),
  collection: 'rates',
  within: caller => [visibleRate(caller)],
})

/**
 * Company keys see the rates of their companies. Agency keys see generic ones of companies they work for, those
 * of projects they work on, and agency rates that are their own.
 */
function visibleRate(caller: KeyInWorld): RecordTest {
  const { key, world } = caller
  const own = ownAgencies(caller)
  return rate => {
    if (!mayNameCompany(key, world, idOf(rate.company) ?? '')) return false
    if (!own) return true
    const agency = idOf(rate.agency)
    if (agency !== undefined) return own(agency)
    const project = idOf(rate.project)
    return project === undefined || isLinked(caller, 'project', project)
  }
}

function idOf(ref: unknown): string | undefined {
  return (ref as StoredRecord | null | undefined)?.id as string | undefined
}
