/** GET /rates/{id}. */

import type { EndpointRequest } from '../declare/endpoint.ts'
import { readEndpoint } from '../declare/read.ts'
import { ownAgencies } from '../keys/agency-view.ts'
import { isLinked, mayNameCompany, type Test } from '../keys/scope.ts'
import type { StoredRecord } from '../records/record.ts'

export const rateRead = readEndpoint({
  path: '/rates/:id',
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
