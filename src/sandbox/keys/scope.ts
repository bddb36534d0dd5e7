/**
 * Decides which records a key may see, which companies it may name, which parts of shared records an agency key sees, and
 * for which of its agencies it writes.
 */
import { pathReader, type StoredRecord, valuesAt } from '../record.ts'
import { demand } from '../refusals.ts'
import type { CollectionName, World } from '../world.ts'
import { type ApiKey, agenciesOf, companiesOf, type KeyInWorld } from './keys.ts'

export type RecordTest = (record: StoredRecord) => boolean

/** Where a record names its company and its agency. */
interface ScopePaths {
  readonly company: string
  readonly agency?: string
}

/** Limits records to those that a key may see; `everyone` shows all of them to every key. */
export type VisibleRecords = ScopePaths | 'everyone' | ((caller: KeyInWorld) => readonly RecordTest[])

export function testsWithin(within: VisibleRecords, caller: KeyInWorld): readonly RecordTest[] {
  if (within === 'everyone') return []
  return typeof within === 'function' ? within(caller) : scopeTests(caller, within)
}

export function scopeTests({ key, world }: KeyInWorld, paths: ScopePaths): RecordTest[] {
  const tests: RecordTest[] = []
  const companies = companiesOf(key, world)
  if (companies !== 'all') tests.push(anyOf(paths.company, companies))
  if (key.kind === 'agency') {
    demand(paths.agency !== undefined, 'agency-scoped keys cannot use this endpoint', 403)
    tests.push(anyOf(paths.agency, agenciesOf(key, world)))
  }
  return tests
}

export function anyOf(path: string, ids: readonly string[]): RecordTest {
  const read = pathReader(path)
  const wanted = new Set<unknown>(ids)
  return record => valuesAt(record, read).some(id => wanted.has(id))
}

/** Refuses requested companies outside the key's own: 403, or 404 where the contract says so. */
export function checkCompanies({ key, world }: KeyInWorld, ids: readonly string[], status: 403 | 404) {
  for (const id of ids) {
    demand(mayNameCompany(key, world, id), `company ${id} is not available to this key`, status)
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
export function isLinked({ key, world }: KeyInWorld, kind: 'company' | 'project', id: string): boolean {
  const agencies = agenciesOf(key, world)
  const read = pathReader(`${kind}.id`)
  return Object.entries(linkingCollections).some(([name, path]) => {
    const ofAgencies = anyOf(path, agencies)
    return world.all(name as CollectionName).some(record => read(record) === id && ofAgencies(record))
  })
}

/** Whether an agency is one of the key's own; undefined for company keys, which see all of them. */
export function ownAgencies({ key, world }: KeyInWorld): ((id: unknown) => boolean) | undefined {
  if (key.kind === 'company') return undefined
  const own = new Set<unknown>(agenciesOf(key, world))
  return id => own.has(id)
}

/** An MSP-to-client invoice or credit note names an agency, but no agency may see it. */
export const isBetweenProviderAndClient = ({ invoiceType, creditNoteType }: StoredRecord): boolean =>
  invoiceType === 'mspToClient' || creditNoteType === 'mspToClient'

/** Conditions for lists and reads of invoices and credit notes. */
export function visibleBills(caller: KeyInWorld): RecordTest[] {
  const inScope = scopeTests(caller, { company: 'company.id', agency: 'agency.id' })
  return caller.key.kind === 'agency' ? [...inScope, record => !isBetweenProviderAndClient(record)] : inScope
}

/** Every record with answers has the list, empty or not. */
export function withOwnAnswers(record: StoredRecord, caller: KeyInWorld): StoredRecord {
  const own = ownAgencies(caller)
  const answers = (record.submissionAnswers ?? []) as readonly StoredRecord[]
  const seen = own ? answers.filter(answer => own((answer.agency as StoredRecord | null)?.id)) : answers
  return { ...record, submissionAnswers: seen }
}

/**
 * The agency that the `agency` parameter names, or the key's only one. 400 when it has several and none is
 * named; `outside` (403 or 404, as the operation has it) for an agency that is not the key's.
 */
export function chosenAgency(
  { key, world }: KeyInWorld,
  named: string | undefined,
  outside: 403 | 404,
): string {
  const agencies = agenciesOf(key, world)
  if (named !== undefined) {
    demand(agencies.includes(named), `agency ${named} is not available to this key`, outside)
    return named
  }
  const [only, ...others] = agencies
  const isOne = only !== undefined && others.length === 0
  demand(isOne, `agency: is required, because the key spans ${agencies.length} agencies`)
  return only
}
