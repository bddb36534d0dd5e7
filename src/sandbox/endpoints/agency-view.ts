/** What an agency key sees inside a record that several agencies share. */
import { agenciesOf } from '../keys.ts'
import type { StoredRecord } from '../record.ts'
import type { EndpointRequest } from './endpoint.ts'

/** Whether an agency is one of the key's own; undefined for company keys, who see all of them. */
export function ownAgencies({ key, world }: EndpointRequest): ((id: unknown) => boolean) | undefined {
  if (key.kind === 'company') return undefined
  const own = new Set<unknown>(agenciesOf(key, world))
  return id => own.has(id)
}

/** Every record with answers has the list, empty or not. */
export function ownAnswers(record: StoredRecord, request: EndpointRequest): StoredRecord {
  const own = ownAgencies(request)
  const answers = (record.submissionAnswers ?? []) as readonly StoredRecord[]
  const seen = own ? answers.filter(answer => own((answer.agency as StoredRecord | null)?.id)) : answers
  return { ...record, submissionAnswers: seen }
}
