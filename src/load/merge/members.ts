/** Rows of dimensions that records name: enough to join, until the thing itself is read. */
import type { TemporaryTable, TypedColumn } from '../../warehouse/engine.ts'
import { quoteName, quoteNames, quoteText } from '../../warehouse/sql-text.ts'
import type { StagePlan } from '../read/plan.ts'
import { anyGiven, type NamedDimension, namedDimensions, type Place, saidAts } from './member-places.ts'
import { memberColumns, memberTable, memberTableName, wordsOf } from './mentions.ts'

const joined = (values: readonly string[]): string =>
  `concat_ws('|', ${["''", ...values.map(value => `coalesce(cast(${value} as varchar), '')`)].join(', ')})`

/** The source's time decides, without one the order of fetching, and between equals the greater words. */
function isNewer({ saidAt, attributes }: Place, held: string): string {
  const words = (row: string): string => joined(attributes.map(name => `${row}.${quoteName(name)}`))
  const after = (left: string, right: string): string =>
    `(${left} > ${right} or (${left} = ${right} and ${words('m')} > ${words(held)}))`
  return `case when m.${saidAt} is null and ${held}.source_updated_at is null then ${after('m.loaded_at', `${held}.loaded_at`)}
    when m.${saidAt} is null then false when ${held}.source_updated_at is null then true
    else ${after(`m.${saidAt}`, `${held}.source_updated_at`)} end`
}

/** Whether the member says something newer than the row held, or something the row does not know. */
function addsTo(place: Place, held: string): string {
  const fills = place.attributes.map(
    name => `(m.${quoteName(name)} is not null and ${held}.${quoteName(name)} is null)`,
  )
  return `(${anyGiven('m.', place.attributes)} and (${[isNewer(place, held), ...fills].join(' or ')}))`
}

function memberInsert(member: string, place: Place): string {
  const { qualified, key, attributes, hashed, saidAt, insertable, extra } = place
  const known = new Set(attributes)
  const values = [
    [key, 'm.member_id'],
    ['first_loaded_at', 'm.loaded_at'],
    ['is_deleted', 'false'],
    ...attributes.map(name => [name, `m.${quoteName(name)}`] as const),
    ...extra,
    ['source_updated_at', `m.${saidAt}`],
    ['loaded_at', 'm.loaded_at'],
    ['run_id', 'm.run_id'],
    ['row_hash', `md5(${joined(hashed.map(name => (known.has(name) ? `m.${quoteName(name)}` : 'null')))})`],
  ] as const
  return `insert into ${qualified} (${quoteNames(values.map(([name]) => name))})
    select ${values.map(([, value]) => value).join(', ')} from ${member} m
    where ${insertable} and not exists (select 1 from ${qualified} t where t.${quoteName(key)} = m.member_id)`
}

/** What is newer replaces what is held; what is older only fills gaps. */
function memberUpdate(member: string, place: Place): string {
  const { qualified, key, attributes, hashed, saidAt, named } = place
  const newer = isNewer(place, 't')
  const known = new Set(attributes)
  const value = (name: string): string => {
    const [mine, held] = [`m.${quoteName(name)}`, `t.${quoteName(name)}`]
    if (!known.has(name)) return held
    return `case when ${newer} then coalesce(${mine}, ${held}) else coalesce(${held}, ${mine}) end`
  }
  const sets = [
    ...attributes.map(name => [name, value(name)] as const),
    ['source_updated_at', `greatest(t.source_updated_at, m.${saidAt})`],
    ['loaded_at', 'm.loaded_at'],
    ['run_id', 'm.run_id'],
    ['row_hash', `md5(${joined(hashed.map(value))})`],
  ].map(([name, expression]) => `${quoteName(String(name))} = ${expression}`)
  return `update ${qualified} as t set ${sets.join(', ')} from ${member} m
    where t.${quoteName(key)} = m.member_id and ${named} and ${addsTo(place, 't')}`
}

/** A row known by reference is inserted once, and renamed by a newer record as long as nothing better is known. */
const memberMerge = (member: string, place: Place): string[] =>
  place.attributes.length === 0
    ? [memberInsert(member, place)]
    : [memberUpdate(member, place), memberInsert(member, place)]

/** What the warehouse holds of a dimension beside the words that may be said of its members. */
function heldRows({ naming, places }: NamedDimension, words: readonly TypedColumn[]): string {
  const [star, twin] = [...places].reverse()
  if (!star) throw new Error(`${naming.name} has no place`)
  const held = ({ name, sql }: TypedColumn): string => {
    if (star.attributes.includes(name)) return `t.${quoteName(name)}`
    return twin?.attributes.includes(name) ? `p.${quoteName(name)}` : `cast(null as ${sql})`
  }
  const columns = [
    `${quoteText(naming.name)} as dimension, t.${quoteName(star.key)} as member_id, t.is_stub`,
    `${twin ? 'p.source_updated_at' : 'cast(null as timestamptz)'} as twin_said_at, t.source_updated_at as star_said_at`,
    ...words.map(word => `${held(word)} as ${quoteName(word.name)}`),
  ]
  const join = twin
    ? `left join ${twin.qualified} p on p.${quoteName(twin.key)} = t.${quoteName(star.key)}`
    : ''
  return `select ${columns.join(', ')} from ${star.qualified} t ${join}`
}

/**
 * Dimensions with members that have no row, or a stub that may have to take words from them: a rougher question than
 * `addsTo`, planned in no time, and asked of all dimensions at once, so that it takes the memory of one join.
 */
function newsIn(dimensions: readonly NamedDimension[], words: readonly TypedColumn[]): string {
  const names = words.map(({ name }) => name)
  const fills = names.map(name => `(m.${quoteName(name)} is not null and h.${quoteName(name)} is null)`)
  const times = saidAts.map(at => `(m.${at} is not null and coalesce(m.${at} >= h.${at}, true))`)
  const untimed = `(${saidAts.map(at => `m.${at} is null`).join(' and ')} and ${anyGiven('m.', names)})`
  return `select distinct m.dimension from ${memberTableName} m
    left join (${dimensions.map(one => heldRows(one, words)).join(' union all ')}) h
      on h.dimension = m.dimension and h.member_id = m.member_id
    where h.member_id is null or (h.is_stub and (${[untimed, ...times, ...fills].join(' or ')}))`
}

/** What the records name, and what becomes of it in the warehouse. */
export interface Members {
  /** The temporary table of members. */
  readonly table: TemporaryTable
  /** Tells the dimensions whose statements may write something; most batches name nobody new. */
  readonly news: string
  /** By dimension. */
  readonly statements: ReadonlyMap<string, readonly string[]>
}

/** Undefined where no staged record names anybody. */
export function membersOf(plan: StagePlan, filled: ReadonlySet<string>): Members | undefined {
  const dimensions = namedDimensions(plan, filled)
  if (dimensions.length === 0) return undefined
  const words = wordsOf(dimensions)
  const statements = dimensions.map(({ naming: { name }, places }) => {
    const member = `(select * from ${memberTableName} where dimension = ${quoteText(name)})`
    return [name, places.flatMap(place => memberMerge(member, place))] as const
  })
  return {
    table: {
      name: memberTableName,
      make: memberTable(dimensions, words),
      columns: memberColumns(words),
      joinedBy: 'member_id',
    },
    news: newsIn(dimensions, words),
    statements: new Map(statements),
  }
}
