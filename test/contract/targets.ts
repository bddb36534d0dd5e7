/** A request of each operation that succeeds: the path with an id of the first company's records in it. */
import { routeOf } from '../fault-layer/service.ts'
import type { Body } from '../sandbox/open-sandbox.ts'
import { person } from '../sandbox/writes/worker-inputs.ts'
import { agencies, companies, type Stand } from './stand.ts'

/** A record of the first or second company. */
export function recordOf(stand: Stand, operation: string, company: 0 | 1 = 0): Body {
  const name = routeOf((operation.split(' ')[1] ?? '').replace('{id}', 'x'))?.collection
  const found =
    name && stand.sandbox.world.all(name).find((one: Body) => one.company.id === companies[company])
  if (!found) throw new Error(`the world has no record for ${operation}`)
  return found
}

/** Worker of the first agency, from a timesheet. */
export function workerOf({ sandbox }: Stand): string {
  for (const worker of sandbox.workers.all()) if (worker.agencies.has(agencies[0])) return worker.id
  throw new Error('the world has no worker of the first agency')
}

/** The operation with `id` in its path; by default one that the company key, or the agency's, may name. */
export function targetOf(stand: Stand, operation: string, id?: string): string {
  if (!operation.includes('{id}')) return operation
  const known = () => {
    if (operation.includes('/companies/')) return companies[0]
    return operation.includes('/workers/') ? workerOf(stand) : String(recordOf(stand, operation).id)
  }
  return operation.replace('{id}', id ?? known())
}

export const declaration = (recordId: string, changes: Body = {}): Body => ({
  resource: 'worker',
  recordId,
  purpose: 'attachments',
  fileName: 'aid.pdf',
  contentType: 'application/pdf',
  size: 15,
  ...changes,
})

/** The body that the operation accepts; none for reads. */
export function bodyOf(stand: Stand, operation: string): Body {
  if (operation === 'POST /workers') return person()
  if (operation === 'PATCH /workers/{id}') return { lastName: 'Else' }
  return operation === 'POST /files/uploads' ? declaration(workerOf(stand)) : undefined
}

export const keyOf = (operation: string) => (operation.startsWith('GET') ? 'company' : 'agency')
