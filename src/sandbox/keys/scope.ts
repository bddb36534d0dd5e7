/** The records of a collection that a key may see, and the companies it may name. */
import { pathReader, type StoredRecord, valuesAt } from '../records/record.ts'
import { ApiError } from '../refusals/api-error.ts'
import type { Collection, World } from '../world.ts'
import { type ApiKey, agenciesOf, companiesOf } from './keys.ts'

export type Test = (record: StoredRecord) => boolean

/** `undefined` means everything. Paths say where a record names its company and its agency. */
export interface ScopePaths {
  readonly company: string
  readonly agency?: string
}

export function scopeTests(key: ApiKey, world: World, paths: ScopePaths): Test[] {
  const tests: Test[] = []
  const companies = companiesOf(key, world)
  if (companies !== 'all') tests.push(anyOf(paths.company, companies))
  if (key.kind === 'agency') {
    if (paths.agency === undefined) throw new ApiError(403, 'agency-scoped keys cannot use this endpoint')
    tests.push(anyOf(paths.agency, agenciesOf(key, world)))
  }
  return tests
}

export function anyOf(path: string, ids: readonly string[]): Test {
  const read = pathReader(path)
  const wanted = new Set<unknown>(ids)
  return record => valuesAt(record, read).some(id => wanted.has(id))
}

/** Requested companies outside the key's own are refused: 403, or 404 where the contract says so. */
export function checkCompanies(
  request: { key: ApiKey; world: World },
  ids: readonly string[],
  status: 403 | 404,
) {
  const { key, world } = request
  for (const id of ids) {
    if (!mayNameCompany(key, world, id))
      throw new ApiError(status, `company ${id} is not available to this key`)
  }
}

export function mayNameCompany(key: ApiKey, world: World, id: string): boolean {
  const companies = companiesOf(key, world)
  if (companies !== 'all') return companies.includes(id)
  if (key.kind === 'agency') return isLinked({ key, world }, 'company', id)
  return world.get('companies', id) !== undefined
}

/** Where records name their agency. */
const linkingCollections = {
  assignments: 'agency.id',
  requisitions: 'agencies.id',
  timesheets: 'agency.id',
  expenses: 'agency.id',
  invoices: 'agency.id',
} as const

/** A company or project is linked to the key's agencies by any record they share. */
export function isLinked(
  { key, world }: { key: ApiKey; world: World },
  kind: 'company' | 'project',
  id: string,
): boolean {
  const agencies = agenciesOf(key, world)
  const read = pathReader(`${kind}.id`)
  return Object.entries(linkingCollections).some(([name, path]) => {
    const ofAgencies = anyOf(path, agencies)
    return world.all(name as Collection).some(record => read(record) === id && ofAgencies(record))
  })
}
