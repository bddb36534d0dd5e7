/** Rows of dimensions that records name: enough to join, until the thing itself is read. */
import type { Table } from '../../resources/table.ts'
import { memberTables, twinColumns } from '../physical.ts'
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

function namings(plan: StagePlan): Naming[] {
  const byDimension = new Map<string, { stage: string; column: string; given: Set<string> }[]>()
  for (const { name: stage, table } of plan.tables) {
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

/** One row per member: of all that the batch says of it, the newest, and of equals the greatest, so that order plays no part. */
function memberTable(member: string, { attributes, references }: Naming): string {
  const selects = references.map(({ stage, column, given }) => {
    const values = attributes.map(name =>
      given.has(name)
        ? `s.${quoteName(memberAttribute(column, name))} as ${quoteName(name)}`
        : `null as ${quoteName(name)}`,
    )
    return `select ${[`s.${quoteName(column)} as member_id`, 'd.source_updated_at', 'd.loaded_at', 'd.run_id', ...values].join(', ')}
      from ${stage} s join delta d on d.locator = s.locator
      where d.state in ('new', 'stub', 'changed') and s.${quoteName(column)} <> '-1'`
  })
  const order = [
    'source_updated_at desc nulls last',
    ...attributes.map(name => `${quoteName(name)} desc nulls last`),
  ]
  return `create or replace temp table ${member} as
    select * from (
      select *, row_number() over (partition by member_id order by ${order.join(', ')}) as place
      from (${selects.join(' union all ')}) named) ranked
    where place = 1`
}

interface Place {
  readonly qualified: string
  readonly key: string
  readonly attributes: readonly string[]
  /** Holds for a row `t` that nothing better than references has filled. */
  readonly named: string
  /** Holds for a member `m` that may be inserted when it has no row yet. */
  readonly insertable: string
  readonly extra: readonly (readonly [string, string])[]
}

/** A row known by reference is inserted once, and renamed by a newer record as long as nothing better is known. */
function memberMerge(
  member: string,
  { qualified, key, attributes, named, insertable, extra }: Place,
): string[] {
  const values = attributes.map(name => [name, `m.${quoteName(name)}`] as const)
  const given = values.map(([, value]) => `${value} is not null`).join(' or ')
  const hash = `md5(concat_ws('|', ${["''", ...values.map(([, value]) => `coalesce(${value}, '')`)].join(', ')}))`
  const version = [
    ['source_updated_at', 'm.source_updated_at'],
    ['loaded_at', 'm.loaded_at'],
    ['run_id', 'm.run_id'],
    ['row_hash', hash],
  ] as const
  const first = [
    [key, 'm.member_id'],
    ['first_loaded_at', 'm.loaded_at'],
    ['is_deleted', 'false'],
  ] as const
  const all = [...first, ...values, ...extra, ...version]
  const insert = `insert into ${qualified} (${quoteNames(all.map(([name]) => name))})
    select ${all.map(([, value]) => value).join(', ')} from ${member} m
    where ${insertable} and not exists (select 1 from ${qualified} t where t.${quoteName(key)} = m.member_id)`
  if (attributes.length === 0) return [insert]
  const sets = [...values, ...version].map(([name, value]) => `${quoteName(name)} = ${value}`)
  const update = `update ${qualified} as t set ${sets.join(', ')} from ${member} m
    where t.${quoteName(key)} = m.member_id and ${named} and t.row_hash <> ${hash} and (${given})
      and coalesce(m.source_updated_at, m.loaded_at) > coalesce(t.source_updated_at, t.loaded_at)`
  return [update, insert]
}

export interface MemberStep {
  /** Creates the temporary table of members; run before the statements. */
  readonly prepare: string
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
  const given = twin.map(name => `m.${quoteName(name)} is not null`).join(' or ')
  return [
    {
      qualified: `pii.${quoteName(dimension.twin)}`,
      key: dimension.key,
      attributes: twin,
      named: `not ${read(`t.${key}`)}`,
      insertable: `(${given}) and not ${read('m.member_id')}`,
      extra: [],
    },
  ]
}

function starPlace(dimension: Table, attributes: readonly string[]): Place {
  return {
    qualified: `star.${quoteName(dimension.name)}`,
    key: dimension.key,
    attributes,
    named: 't.is_stub',
    insertable: 'true',
    extra: [['is_stub', 'true']],
  }
}

export function memberSteps(plan: StagePlan): MemberStep[] {
  return namings(plan).map((naming, index) => {
    const { dimension, attributes } = naming
    const member = `member_${index}`
    const twins = twinPlaces(dimension, attributes)
    const open = attributes.filter(name => !twins.some(twin => twin.attributes.includes(name)))
    const places = [...twins, starPlace(dimension, open)]
    return {
      prepare: memberTable(member, naming),
      statements: places.flatMap(place => memberMerge(member, place)),
    }
  })
}
