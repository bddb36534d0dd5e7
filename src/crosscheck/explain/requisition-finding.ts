/** Finds how a stored requisition differs from the service's. */
import { requisitions } from '../../contract/resources/requisitions.ts'
import type { PartyNames } from '../metrics/group-keys.ts'
import type { CrosscheckFinding, FindingKind } from './finding.ts'
import type { Acceptance, ComparedRequisition, StoredRequisition } from './requisitions.ts'

interface RequisitionPair {
  /** Undefined when it was stored once and is not any more. */
  readonly stored: StoredRequisition | undefined
  /** Undefined when the service does not have it. */
  readonly served: ComparedRequisition | undefined
}

const signature = (list: readonly Acceptance[]): string =>
  JSON.stringify(list.map(({ keys, days }) => JSON.stringify([keys, Number(days.toFixed(6))])).sort())

const day = (time: number | null): string => (time === null ? 'none' : new Date(time).toISOString())

/** Undefined when both sides count it alike. */
export function requisitionFinding(
  { stored, served }: RequisitionPair,
  counted: (one: ComparedRequisition | undefined) => Acceptance[],
  names: PartyNames,
): CrosscheckFinding | undefined {
  const one = stored ?? served
  const [ours, theirs] = [counted(stored), counted(served)]
  if (!one || (stored && signature(ours) === signature(theirs))) return undefined
  const { id } = one
  const record = stored?.reference ?? served?.reference ?? id
  const { kind, words } = difference({ stored, served }, names)
  const updatedAt = served?.updatedAt ?? null
  return {
    metric: 'timeToFill',
    ...{ kind, record, ours, theirs, changedAt: updatedAt },
    sentence: `requisition ${record}: ${words}`,
    // Reading the record again would not remove a second row.
    ...(kind !== 'deleted' &&
      (stored?.copies ?? 1) === 1 && {
        loss: { resource: requisitions.name, id, createdAt: null, updatedAt },
      }),
  }
}

function difference(
  { stored, served }: RequisitionPair,
  names: PartyNames,
): { kind: FindingKind; words: string } {
  if (!stored) return { kind: 'lost', words: 'it was stored once and is not any more' }
  if (!served) return { kind: 'deleted', words: 'the service no longer has it' }
  if (stored.isDeleted) return { kind: 'lost', words: 'marked as deleted here, but the service has it' }
  if (stored.copies > 1)
    return { kind: 'differs', words: `it is stored ${stored.copies} times: run muster replay` }
  const isNewer = Date.parse(served.updatedAt ?? '') > Date.parse(stored.updatedAt ?? '')
  const parts = differences(stored, served, names)
  const when = isNewer ? 'changed since it was read' : 'in the same version'
  return { kind: isNewer ? 'newer' : 'differs', words: [...parts, when].join(', ') }
}

function differences(
  stored: ComparedRequisition,
  served: ComparedRequisition,
  { agency: names }: PartyNames,
): string[] {
  const fields = (['status', 'company', 'project'] as const)
    .filter(name => stored[name] !== served[name])
    .map(name => `${name} ${stored[name] ?? 'none'} here, ${served[name] ?? 'none'} there`)
  const approved =
    stored.approvedAt === served.approvedAt
      ? []
      : [`approved ${day(stored.approvedAt)} here, ${day(served.approvedAt)} there`]
  const times = ({ answers }: ComparedRequisition, agency: string): string =>
    answers
      .filter(answer => answer.agency === agency)
      .map(({ acceptedAt }) => day(acceptedAt))
      .join(' and ') || 'none'
  const agencies = new Set([...stored.answers, ...served.answers].map(({ agency }) => agency))
  const accepted = [...agencies]
    .filter(agency => times(stored, agency) !== times(served, agency))
    .map(
      agency =>
        `accepted by ${names.get(agency) ?? agency} ${times(stored, agency)} here, ${times(served, agency)} there`,
    )
  return [...fields, ...approved, ...accepted]
}
