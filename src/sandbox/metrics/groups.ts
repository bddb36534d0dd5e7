/** Groups of what is measured: by company, project, agency, month and week, in any combination. */
import { type Days, instantRange } from '../declare/day-range.ts'
import { closed, type JsonSchema, refSchema, refTo } from '../declare/json-schema.ts'
import type { ContractOptions } from '../options/contract-options.ts'
import { monthKey, weekKey } from './calendar-days.ts'
import type { Ref } from './measured.ts'

export const groupKeys = ['all', 'company', 'project', 'agency', 'month', 'week'] as const
export type GroupKey = (typeof groupKeys)[number]

/** A company, project or agency in one of several forms, or the text of a week or month. */
const groupValue: JsonSchema = { anyOf: [refTo(refSchema), { type: ['string', 'null'] }] }

export const groupSchema = closed(
  Object.fromEntries(groupKeys.filter(key => key !== 'all').map(key => [key, groupValue])),
  { required: [], description: 'The keys of the group; empty when everything is one group.' },
)

export interface GroupQuery extends Days {
  readonly groupBy: readonly GroupKey[]
  /** Ids; all agencies when absent. */
  readonly agencies?: readonly string[] | undefined
}

export interface Member {
  readonly company: Ref | undefined
  readonly project: Ref | undefined
  readonly agency: Ref | undefined
  /** The time that `from`, `to`, months and weeks apply to. */
  readonly atMs: number
}

export interface Group<T> {
  /** One property for each key; empty for `all`. */
  readonly group: Readonly<Record<string, unknown>>
  readonly members: T[]
}

interface Part {
  readonly label: string
  readonly value: unknown
}

/** Sorted by name, month and week, key by key; no group is empty. `all` beside another key has no effect. */
export function grouped<T extends Member>(
  members: readonly T[],
  { groupBy, agencies, ...days }: GroupQuery,
  options: ContractOptions,
): Group<T>[] {
  const isInRange = instantRange(days, options)
  const keys = groupBy.filter(key => key !== 'all')
  const groups = new Map<string, Group<T> & { readonly labels: readonly string[] }>()
  for (const member of members) {
    if (!isInRange(member.atMs) || agencies?.includes(member.agency?.id ?? '') === false) continue
    const parts = keys.map(key => partOf(member, key, options))
    const name = JSON.stringify(parts)
    const known = groups.get(name)
    if (known) known.members.push(member)
    else {
      const group = Object.fromEntries(keys.map((key, index) => [key, parts[index]?.value]))
      groups.set(name, { group, members: [member], labels: parts.map(part => part.label) })
    }
  }
  return [...groups.values()]
    .sort((left, right) => compare(left.labels, right.labels))
    .map(({ group, members: own }) => ({ group, members: own }))
}

function partOf(member: Member, key: Exclude<GroupKey, 'all'>, options: ContractOptions): Part {
  if (key === 'month' || key === 'week') {
    const value = key === 'month' ? monthKey(member.atMs, options) : weekKey(member.atMs, options)
    return { label: value, value }
  }
  const ref = member[key]
  if (!ref) return { label: '', value: null }
  const { id, name } = ref
  const form = options['group-ref']
  return { label: `${name} ${id}`, value: form === 'ref' ? { id, name } : ref[form] }
}

function compare(left: readonly string[], right: readonly string[]): number {
  for (const [index, label] of left.entries()) {
    const other = right[index] as string
    if (label !== other) return label < other ? -1 : 1
  }
  return 0
}
