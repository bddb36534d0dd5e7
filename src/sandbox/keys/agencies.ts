/** What an agency key sees of records that several agencies share, and which of its agencies it writes for. */
import type { StoredRecord } from '../records/record.ts'
import { ApiError } from '../refusals/api-error.ts'
import type { World } from '../world.ts'
import { type ApiKey, agenciesOf } from './keys.ts'
import type { Test } from './scope.ts'

interface Caller {
  readonly key: ApiKey
  readonly world: World
}

/** Whether an agency is one of the key's own; undefined for company keys, which see all of them. */
export function ownAgencies({ key, world }: Caller): ((id: unknown) => boolean) | undefined {
  if (key.kind === 'company') return undefined
  const own = new Set<unknown>(agenciesOf(key, world))
  return id => own.has(id)
}

/** What a managed service provider bills or credits its client names an agency, but no agency may see it. */
export const isBetweenProviderAndClient = ({ invoiceType, creditNoteType }: StoredRecord): boolean =>
  invoiceType === 'mspToClient' || creditNoteType === 'mspToClient'

/** For lists and reads of invoices and credit notes. */
export const billsOfAgencies = ({ key }: Caller): Test[] =>
  key.kind === 'agency' ? [record => !isBetweenProviderAndClient(record)] : []

/** Every record with answers has the list, empty or not. */
export function withOwnAnswers(record: StoredRecord, caller: Caller): StoredRecord {
  const own = ownAgencies(caller)
  const answers = (record.submissionAnswers ?? []) as readonly StoredRecord[]
  const seen = own ? answers.filter(answer => own((answer.agency as StoredRecord | null)?.id)) : answers
  return { ...record, submissionAnswers: seen }
}

/**
 * The agency that the `agency` parameter names, or the key's only one. 400 when it has several and none is
 * named; `outside` (403 or 404, as the operation has it) for an agency that is not the key's.
 */
export function chosenAgency({ key, world }: Caller, named: string | undefined, outside: 403 | 404): string {
  const agencies = agenciesOf(key, world)
  if (named !== undefined) {
    if (agencies.includes(named)) return named
    throw new ApiError(outside, `agency ${named} is not available to this key`)
  }
  const [only] = agencies
  if (agencies.length !== 1 || only === undefined) {
    throw new ApiError(400, `agency: is required, because the key spans ${agencies.length} agencies`)
  }
  return only
}
