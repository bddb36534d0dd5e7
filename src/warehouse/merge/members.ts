/** Rows of dimensions that records name: enough to join, until the thing itself is read. */
import type { Column } from '../../resources/column.ts'
import type { Table } from '../../resources/table.ts'
import { storedTypes } from '../column-type.ts'
import type { SharedColumn } from '../engine.ts'
import { memberTables, starColumns, twinColumns } from '../physical.ts'
import { quoteName, quoteNames } from '../sql-text.ts'
import { memberAttribute, type StagePlan } from '../stage/plan.ts'

/** Columns of a dimension that any of these references fills, in the order of the dimension. */
interface Naming {
  readonly dimension: Table
  readonly attributes: readonly string[]
  readonly references: readonly {
    readonly stage: string
    readonly column: string
    readonly given: ReadonlySet<string>
  }[]
}

function namings(plan: StagePlan, filled: ReadonlySet<string>): Naming[] {
  const byDimension = new Map<string, { stage: string; column: string; given: Set<string> }[]>()
  for (const { name: stage, table } of plan.tables.filter(({ name }) => filled.has(name))) {
    for (const [column, { member }] of Object.entries(table.columns)) {
      if (!member) continue
      const references = byDimension.get(member.dimension) ?? []
      byDimension.set(member.dimension, [
        ...references,
        { stage, column, given: new Set(Object.keys(member.attributes)) },
      ])
    }
  }
  return [...byDimension].map(([name, references]) => {
    const dimension = memberTables.get(name)
    if (!dimension) throw new Error(`${plan.resource.name} refers to ${name}, which is no dimension`)
    const given = new Set(references.flatMap(reference => [...reference.given]))
    const attributes = Object.keys(dimension.columns).filter(column => given.has(column))
    return { dimension, attributes, references }
  })
}

interface Place {
  readonly qualified: string
  readonly key: string
  /** Columns that the batch may fill here, in the order of the dimension. */
  readonly attributes: readonly string[]
  /** Every column that references fill here; the hash of the row covers them. */
  readonly hashed: readonly string[]
  /** Column of the member table: when a record last said something that belongs here. */
  readonly saidAt: string
  /** Holds for a row `t` that nothing better than references has filled. */
  readonly named: string
  /** Holds for a member `m` that may be inserted when it has no row yet. */
  readonly insertable: string
  readonly extra: readonly (readonly [string, string])[]
}

const anyGiven = (row: string, names: readonly string[]): string =>
  names.length === 0 ? 'false' : `(${names.map(name => `${row}${quoteName(name)} is not null`).join(' or ')})`

/**
 * One row per member, made where the stage is: of each attribute what the newest record that has it says, and of equals the greatest, so that
 * neither the order of the records nor the cut between two batches plays a part.
 */
function memberTable(member: string, { attributes, references }: Naming, places: readonly Place[]): string {
  const selects = references.map(({ stage, column, given }) => {
    const values = attributes.map(name =>
      given.has(name)
        ? `s.${quoteName(memberAttribute(column, name))} as ${quoteName(name)}`
        : `null as ${quoteName(name)}`,
    )
    return `select ${[`s.${quoteName(column)} as member_id`, 'd.source_updated_at', 'd.loaded_at', 'd.run_id', ...values].join(', ')}
      from ${stage} s join arriving d on d.locator = s.locator
      where s.${quoteName(column)} <> '-1'`
  })
  // A struct compares field by field, so the greatest is the newest, and of equal times the greater words.
  const time = `coalesce(source_updated_at, timestamptz '0001-01-01')`
  const newest = attributes.map(
    name => `arg_max(${quoteName(name)}, {t: ${time}, v: ${quoteName(name)}}) as ${quoteName(name)}`,
  )
  const said = places.map(
    place => `max(source_updated_at) filter (${anyGiven('', place.attributes)}) as ${place.saidAt}`,
  )
  const latest = `arg_max({l: loaded_at, r: run_id}, {t: ${time}, l: loaded_at, r: run_id})`
  return `create or replace temp table ${member} as
    select * exclude (latest), latest.l as loaded_at, latest.r as run_id from (
      select ${['member_id', `${latest} as latest`, ...newest, ...said].join(', ')}
      from (${selects.join(' union all ')}) named group by member_id)`
}

function memberColumns({ dimension, attributes }: Naming, places: readonly Place[]): SharedColumn[] {
  const typeOf = (name: string): string => storedTypes[(dimension.columns[name] as Column).type].sql
  return [
    { name: 'member_id', sql: 'text' },
    ...attributes.map(name => ({ name, sql: typeOf(name) })),
    ...places.map(({ saidAt }) => ({ name: saidAt, sql: 'timestamptz' })),
    { name: 'loaded_at', sql: 'timestamptz' },
    { name: 'run_id', sql: 'text' },
  ]
}

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

export interface MemberStep {
  /** The temporary table of members. */
  readonly table: string
  readonly columns: readonly SharedColumn[]
  /** Creates it in the stage; run before the others. */
  readonly prepare: string
  /** Counts the members that the statements would write; most batches name nobody new. */
  readonly count: string
  readonly statements: readonly string[]
}

/** The twin of a dimension that is read by itself belongs to that reading: references fill it for stubs only. */
function twinPlaces(dimension: Table, attributes: readonly string[]): Place[] {
  const twin = twinColumns(dimension)
    .map(([name]) => name)
    .filter(name => attributes.includes(name))
  if (twin.length === 0) return []
  const key = quoteName(dimension.key)
  const read = (row: string): string =>
    `exists (select 1 from star.${quoteName(dimension.name)} x where x.${key} = ${row} and not x.is_stub)`
  return [
    {
      qualified: `pii.${quoteName(dimension.twin)}`,
      key: dimension.key,
      attributes: twin,
      hashed: twinColumns(dimension).map(([name]) => name),
      saidAt: 'twin_said_at',
      named: `not ${read(`t.${key}`)}`,
      insertable: `${anyGiven('m.', twin)} and not ${read('m.member_id')}`,
      extra: [],
    },
  ]
}

function starPlace(dimension: Table, attributes: readonly string[]): Place {
  return {
    qualified: `star.${quoteName(dimension.name)}`,
    key: dimension.key,
    attributes,
    hashed: starColumns(dimension)
      .map(column => column.name)
      .filter(name => name !== dimension.key && name !== 'is_stub'),
    saidAt: 'star_said_at',
    named: 't.is_stub',
    insertable: 'true',
    extra: [['is_stub', 'true']],
  }
}

/** Members without a row, and those of stubs that the batch knows more about; the last place is star. */
function memberCount(member: string, places: readonly Place[]): string {
  const joins = places.map(
    ({ qualified, key }, index) =>
      `left join ${qualified} p${index} on p${index}.${quoteName(key)} = m.member_id`,
  )
  const star = places.length - 1
  const adds = places.map((place, index) => {
    const missing =
      index === star ? 'false' : `(p${index}.row_hash is null and ${anyGiven('m.', place.attributes)})`
    return `${missing} or ${addsTo(place, `p${index}`)}`
  })
  return `select count(*) as n from ${member} m ${joins.join(' ')}
    where p${star}.row_hash is null or (p${star}.is_stub and (${adds.join(' or ')}))`
}

export function memberSteps(plan: StagePlan, filled: ReadonlySet<string>): MemberStep[] {
  return namings(plan, filled).map((naming, index) => {
    const { dimension, attributes } = naming
    const member = `member_${index}`
    const twins = twinPlaces(dimension, attributes)
    const open = attributes.filter(name => !twins.some(twin => twin.attributes.includes(name)))
    const places = [...twins, starPlace(dimension, open)]
    return {
      table: member,
      columns: memberColumns(naming, places),
      prepare: memberTable(member, naming, places),
      count: memberCount(member, places),
      statements: places.flatMap(place => memberMerge(member, place)),
    }
  })
}
