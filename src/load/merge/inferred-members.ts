/** Writes inferred members: dimension rows known only from references, enough to join until the record itself is read. */
import type { TemporaryTable, TypedColumn } from '../../warehouse/engine.ts'
import { quoteName, quoteNames, quoteText } from '../../warehouse/sql-text.ts'
import type { StagePlan } from '../read/plan.ts'
import {
  anyGiven,
  attributesOf,
  type MemberTable,
  memberColumns,
  memberTable,
  memberTableName,
  type NamedDimension,
  namedDimensions,
  sourceTimes,
} from './named-members.ts'

const joined = (values: readonly string[]): string =>
  `concat_ws('|', ${["''", ...values.map(value => `coalesce(cast(${value} as varchar), '')`)].join(', ')})`

/** The newer source time wins; without one, the later fetch; between equals, the greater attributes. */
function isNewer({ sourceTime, attributes }: MemberTable, stored: string): string {
  const values = (row: string): string => joined(attributes.map(name => `${row}.${quoteName(name)}`))
  const after = (left: string, right: string): string =>
    `(${left} > ${right} or (${left} = ${right} and ${values('m')} > ${values(stored)}))`
  return `case when m.${sourceTime} is null and ${stored}.source_updated_at is null then ${after('m.loaded_at', `${stored}.loaded_at`)}
    when m.${sourceTime} is null then false when ${stored}.source_updated_at is null then true
    else ${after(`m.${sourceTime}`, `${stored}.source_updated_at`)} end`
}

/** Whether a reference is newer than the stored row, or fills one of its empty attributes. */
function addsTo(place: MemberTable, stored: string): string {
  const fills = place.attributes.map(
    name => `(m.${quoteName(name)} is not null and ${stored}.${quoteName(name)} is null)`,
  )
  return `(${anyGiven('m.', place.attributes)} and (${[isNewer(place, stored), ...fills].join(' or ')}))`
}

function memberInsert(member: string, place: MemberTable): string {
  const { qualified, key, attributes, hashed, sourceTime, mayInsert, extra } = place
  const known = new Set(attributes)
  const values = [
    [key, 'm.member_id'],
    ['first_loaded_at', 'm.loaded_at'],
    ['is_deleted', 'false'],
    ...attributes.map(name => [name, `m.${quoteName(name)}`] as const),
    ...extra,
    ['source_updated_at', `m.${sourceTime}`],
    ['loaded_at', 'm.loaded_at'],
    ['run_id', 'm.run_id'],
    ['row_hash', `md5(${joined(hashed.map(name => (known.has(name) ? `m.${quoteName(name)}` : 'null')))})`],
  ] as const
  return `insert into ${qualified} (${quoteNames(values.map(([name]) => name))})
    select ${values.map(([, value]) => value).join(', ')} from ${member} m
    where ${mayInsert} and not exists (select 1 from ${qualified} t where t.${quoteName(key)} = m.member_id)`
}

/** Newer attributes replace stored ones; older ones only fill gaps. */
function memberUpdate(member: string, place: MemberTable): string {
  const { qualified, key, attributes, hashed, sourceTime, isInferred } = place
  const newer = isNewer(place, 't')
  const known = new Set(attributes)
  const value = (name: string): string => {
    const [given, stored] = [`m.${quoteName(name)}`, `t.${quoteName(name)}`]
    if (!known.has(name)) return stored
    return `case when ${newer} then coalesce(${given}, ${stored}) else coalesce(${stored}, ${given}) end`
  }
  const sets = [
    ...attributes.map(name => [name, value(name)] as const),
    ['source_updated_at', `greatest(t.source_updated_at, m.${sourceTime})`],
    ['loaded_at', 'm.loaded_at'],
    ['run_id', 'm.run_id'],
    ['row_hash', `md5(${joined(hashed.map(value))})`],
  ].map(([name, expression]) => `${quoteName(String(name))} = ${expression}`)
  return `update ${qualified} as t set ${sets.join(', ')} from ${member} m
    where t.${quoteName(key)} = m.member_id and ${isInferred} and ${addsTo(place, 't')}`
}

/** A dimension with members that have no row, with inferred members that may need attributes, or both. */
export interface ChangedDimension {
  readonly dimension: string
  readonly has_new: boolean
  readonly has_inferred: boolean
  /** If false, its rows get a new time at most. */
  readonly has_changes: boolean
}

/**
 * Inserts an inferred member once, and updates it from newer references until its own record is read. Its PII row may
 * come later than its star row, but never alone.
 */
function memberMerge(
  member: string,
  places: readonly MemberTable[],
  { has_new: hasNew, has_inferred: hasInferred }: ChangedDimension,
): string[] {
  return places.flatMap(place => [
    ...(hasInferred && place.attributes.length > 0 ? [memberUpdate(member, place)] : []),
    ...(hasNew || place !== places.at(-1) ? [memberInsert(member, place)] : []),
  ])
}

/** Selects the stored members of a dimension, with a column for every attribute that the batch's references may give. */
function storedRows({ naming, places }: NamedDimension, attributes: readonly TypedColumn[]): string {
  const [star, pii] = [...places].reverse()
  if (!star) throw new Error(`${naming.name} has no table`)
  const stored = ({ name, sql }: TypedColumn): string => {
    if (star.attributes.includes(name)) return `t.${quoteName(name)}`
    return pii?.attributes.includes(name) ? `p.${quoteName(name)}` : `cast(null as ${sql})`
  }
  const columns = [
    `${quoteText(naming.name)} as dimension, t.${quoteName(star.key)} as member_id, t.is_inferred`,
    `${pii ? 'p.source_updated_at' : 'cast(null as timestamptz)'} as pii_source_updated_at, t.source_updated_at as star_source_updated_at`,
    ...attributes.map(one => `${stored(one)} as ${quoteName(one.name)}`),
  ]
  const join = pii ? `left join ${pii.qualified} p on p.${quoteName(pii.key)} = t.${quoteName(star.key)}` : ''
  return `select ${columns.join(', ')} from ${star.qualified} t ${join}`
}

/**
 * Selects dimensions with a member that has no row, or an inferred member that may need attributes. Coarser than
 * `addsTo`, but planned once for all dimensions, with the memory of a single join.
 */
function changedDimensions(
  dimensions: readonly NamedDimension[],
  attributes: readonly TypedColumn[],
): string {
  const names = attributes.map(({ name }) => name)
  const fills = names.map(name => `(m.${quoteName(name)} is not null and h.${quoteName(name)} is null)`)
  const times = sourceTimes.map(at => `(m.${at} is not null and coalesce(m.${at} >= h.${at}, true))`)
  const differs = names.map(
    name =>
      `(m.${quoteName(name)} is not null and m.${quoteName(name)} is distinct from h.${quoteName(name)})`,
  )
  const untimed = `(${sourceTimes.map(at => `m.${at} is null`).join(' and ')} and ${anyGiven('m.', names)})`
  // Ordered, so that the same pages give the same statements.
  return `select m.dimension, bool_or(h.member_id is null) as has_new, bool_or(h.member_id is not null) as has_inferred,
      bool_or(${['h.member_id is null', ...differs].join(' or ')}) as has_changes
    from ${memberTableName} m
    left join (${dimensions.map(one => storedRows(one, attributes)).join(' union all ')}) h
      on h.dimension = m.dimension and h.member_id = m.member_id
    where h.member_id is null or (h.is_inferred and (${[untimed, ...times, ...fills].join(' or ')}))
    group by m.dimension order by m.dimension`
}

/** The members that a batch refers to, and the statements that write them. */
export interface Members {
  readonly table: TemporaryTable
  /** Selects the dimensions that may need writing: none in most batches. */
  readonly changed: string
  /** Statements that write the members of one dimension. */
  readonly statements: (changed: ChangedDimension) => readonly string[]
}

/** Undefined when no staged record refers to a member. */
export function membersOf(plan: StagePlan, filled: ReadonlySet<string>): Members | undefined {
  const dimensions = namedDimensions(plan, filled)
  if (dimensions.length === 0) return undefined
  const attributes = attributesOf(dimensions)
  const placesOf = new Map(dimensions.map(({ naming: { name }, places }) => [name, places]))
  return {
    table: {
      name: memberTableName,
      make: memberTable(dimensions, attributes),
      columns: memberColumns(attributes),
      joinedBy: 'member_id',
    },
    changed: changedDimensions(dimensions, attributes),
    statements: one => {
      const member = `(select * from ${memberTableName} where dimension = ${quoteText(one.dimension)})`
      return memberMerge(member, placesOf.get(one.dimension) ?? [], one)
    },
  }
}
