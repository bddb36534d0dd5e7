/** GET /rates/{id}. */
import type { StoredRecord } from '../record.ts'
import { ownAgencies } from './agency-view.ts'
import type { EndpointRequest } from './endpoint.ts'
import { readEndpoint } from './read.ts'
import { isLinked, mayNameCompany, type Test } from './scope.ts'

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
