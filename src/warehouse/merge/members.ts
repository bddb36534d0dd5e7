/** Rows of dimensions that records name: enough to join, until the thing itself is read. */
import type { Share } from '../engine.ts'
import { quoteName, quoteNames, quoteText } from '../sql-text.ts'
import type { StagePlan } from '../stage/plan.ts'
import { anyGiven, type Place, stepsOf } from './member-places.ts'
import { memberColumns, memberTable, memberTableName } from './mentions.ts'

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

/** Holds for a stub `held` that the member may add to: a rougher question than `addsTo`, and one that is planned in no time. */
function mayAddTo({ attributes, saidAt }: Place, held: string): string {
  const fills = attributes.map(
    name => `(m.${quoteName(name)} is not null and ${held}.${quoteName(name)} is null)`,
  )
  const isNotOlder = `coalesce(m.${saidAt} >= ${held}.source_updated_at, true)`
  return `(${anyGiven('m.', attributes)} and (${[isNotOlder, ...fills].join(' or ')}))`
}

/** Members without a row, and those that a stub may have to take words from; the last place is star. */
function memberCount(member: string, places: readonly Place[]): string {
  const joins = places.map(
    ({ qualified, key }, index) =>
      `left join ${qualified} p${index} on p${index}.${quoteName(key)} = m.member_id`,
  )
  const star = places.length - 1
  const adds = places.flatMap((place, index) =>
    place.attributes.length > 0 ? [mayAddTo(place, `p${index}`)] : [],
  )
  const ofStub = adds.length > 0 ? ` or (p${star}.is_stub and (${adds.join(' or ')}))` : ''
  return `select count(*) as n from ${member} m ${joins.join(' ')} where p${star}.row_hash is null${ofStub}`
}

/** What the records name, and what becomes of it in the warehouse. */
export interface Members {
  /** The temporary table of members. */
  readonly share: Share
  readonly steps: readonly MemberStep[]
}

/** One dimension. */
export interface MemberStep {
  /** Counts the members that the statements may write; most batches name nobody new. */
  readonly count: string
  readonly statements: readonly string[]
}

/** Undefined where no staged record names anybody. */
export function membersOf(plan: StagePlan, filled: ReadonlySet<string>): Members | undefined {
  const steps = stepsOf(plan, filled)
  if (steps.length === 0) return undefined
  const words = [...new Set(steps.flatMap(({ naming }) => naming.attributes))]
  return {
    share: {
      share: memberTableName,
      make: memberTable(steps, words),
      columns: memberColumns(steps, words),
    },
    steps: steps.map(({ naming, places }) => {
      const member = `(select * from ${memberTableName} where dimension = ${quoteText(naming.name)})`
      return {
        count: memberCount(member, places),
        statements: places.flatMap(place => memberMerge(member, place)),
      }
    }),
  }
}
