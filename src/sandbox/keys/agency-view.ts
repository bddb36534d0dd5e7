/** What an agency key sees inside a record that several agencies share. */

import type { EndpointRequest } from '../declare/endpoint.ts'
import type { StoredRecord } from '../records/record.ts'
import { agenciesOf } from './keys.ts'
import type { Test } from './scope.ts'

/** Whether an agency is one of the key's own; undefined for company keys, who see all of them. */
export function ownAgencies({ key, world }: EndpointRequest): ((id: unknown) => boolean) | undefined {
  if (key.kind === 'company') return undefined
  const own = new Set<unknown>(agenciesOf(key, world))
  return id => own.has(id)
}

/** What a managed service provider bills or credits its client is no agency's record, though it names one. */
export const isBetweenProviderAndClient = ({ invoiceType, creditNoteType }: StoredRecord): boolean =>
  invoiceType === 'mspToClient' || creditNoteType === 'mspToClient'

/** For lists and reads of invoices and credit notes. */
export const ownPapers = ({ key }: EndpointRequest): Test[] =>
  key.kind === 'agency' ? [record => !isBetweenProviderAndClient(record)] : []

/** Every record with answers has the list, empty or not. */
export function ownAnswers(record: StoredRecord, request: EndpointRequest): StoredRecord {
  const own = ownAgencies(request)
  const answers = (record.submissionAnswers ?? []) as readonly StoredRecord[]
  const seen = own ? answers.filter(answer => own((answer.agency as StoredRecord | null)?.id)) : answers
  return { ...record, submissionAnswers: seen }
}
