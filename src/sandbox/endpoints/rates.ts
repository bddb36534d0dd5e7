/** GET /rates/{id}. */
import { rates } from '../../contract/resources/rates.ts'
import type { EndpointRequest } from '../declare/endpoint.ts'
import { readEndpoint } from '../declare/read.ts'
import { recordOf } from '../declare/record-schema.ts'
import { ownAgencies } from '../keys/agencies.ts'
import { isLinked, mayNameCompany, type Test } from '../keys/scope.ts'
import type { StoredRecord } from '../records/record.ts'

export const rateRead = readEndpoint({
  path: '/rates/:id',
  scope: 'read:rates',
  tool: 'get_rate',
  summary: 'One rate. Agency keys see generic ones and their own.',
  returns: recordOf('Rate', rates),
  collection: 'rates',
  noun: 'rate',
  tests: request => [visibleRate(request)],
})

/**
 * Company keys see the rates of their companies. Agency keys see generic ones of companies they work for, those
 * of projects they work on, and agency rates that are their own.
 */
export function visibleRate(request: EndpointRequest): Test {
  const { key, world } = request
  const own = ownAgencies(request)
  return rate => {
    if (!mayNameCompany(key, world, idOf(rate.company) ?? '')) return false
    if (!own) return true
    const agency = idOf(rate.agency)
    if (agency !== undefined) return own(agency)
    const project = idOf(rate.project)
    return project === undefined || isLinked(request, 'project', project)
  }
}

function idOf(ref: unknown): string | undefined {
  return (ref as StoredRecord | null | undefined)?.id as string | undefined
}
