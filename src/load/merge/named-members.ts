/**
 * Collects the members that records refer to: the tables each may be written to, and the temporary table of their
 * attributes.
 */
import type { Table } from '../../contract/fields/table.ts'
import type { TypedColumn } from '../../warehouse/engine.ts'
import { storedTypes } from '../../warehouse/schema/column-type.ts'
import { memberTables, piiColumns, starColumns } from '../../warehouse/schema/physical.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { memberAttribute, type StagePlan } from '../read/plan.ts'

/** Newest source times of a member's attributes in its PII table and in star. */
export const sourceTimes = ['pii_source_updated_at', 'star_source_updated_at'] as const

/** A batch's references to one dimension, and every attribute they give, in the order of the dimension. */
interface DimensionReferences {
  readonly name: string
  readonly dimension: Table
  readonly attributes: readonly string[]
  readonly references: readonly {
    readonly stage: string
    readonly column: string
    readonly given: ReadonlySet<string>
  }[]
}

function namings(plan: StagePlan, filled: ReadonlySet<string>): DimensionReferences[] {
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
    return { name, dimension, attributes, references }
  })
}

/** A table with attributes of a member: its dimension, or the dimension's PII table. */
export interface MemberTable {
  readonly qualified: string
  readonly key: string
  /** Columns that the batch may fill here, in the order of the dimension. */
  readonly attributes: readonly string[]
  /** All columns that references fill here; the row's hash covers them. */
  readonly hashed: readonly string[]
  readonly sourceTime: (typeof sourceTimes)[number]
  /** SQL condition: only references have filled row `t`. */
  readonly isInferred: string
  /** SQL condition: member `m` may be inserted if it has no row. */
  readonly mayInsert: string
  readonly extra: readonly (readonly [string, string])[]
}

export const anyGiven = (row: string, names: readonly string[]): string =>
  names.length === 0 ? 'false' : `(${names.map(name => `${row}${quoteName(name)} is not null`).join(' or ')})`

/** A dimension that records refer to, and the tables its members may be written to. */
export interface NamedDimension {
  readonly naming: DimensionReferences
  /** The dimension itself comes last. */
  readonly places: readonly MemberTable[]
}

/** References fill PII rows of inferred members only: once a member has been read, its PII comes from its own record. */
function piiPlaces(dimension: Table, attributes: readonly string[]): MemberTable[] {
  const personal = piiColumns(dimension)
    .map(([name]) => name)
    .filter(name => attributes.includes(name))
  if (personal.length === 0) return []
  const key = quoteName(dimension.key)
  const read = (row: string): string =>
    `exists (select 1 from star.${quoteName(dimension.name)} x where x.${key} = ${row} and not x.is_inferred)`
  return [
    {
      qualified: `pii.${quoteName(dimension.piiTable)}`,
      key: dimension.key,
      attributes: personal,
      hashed: piiColumns(dimension).map(([name]) => name),
      sourceTime: 'pii_source_updated_at',
      isInferred: `not ${read(`t.${key}`)}`,
      mayInsert: `${anyGiven('m.', personal)} and not ${read('m.member_id')}`,
      extra: [],
    },
  ]
}

function starPlace(dimension: Table, attributes: readonly string[]): MemberTable {
  return {
    qualified: `star.${quoteName(dimension.name)}`,
    key: dimension.key,
    attributes,
    hashed: starColumns(dimension)
      .map(column => column.name)
      .filter(name => name !== dimension.key && name !== 'is_inferred'),
    sourceTime: 'star_source_updated_at',
    isInferred: 't.is_inferred',
    mayInsert: 'true',
    extra: [['is_inferred', 'true']],
  }
}

function placed(naming: DimensionReferences): NamedDimension {
  const { dimension, attributes } = naming
  const pii = piiPlaces(dimension, attributes)
  const open = attributes.filter(name => !pii.some(place => place.attributes.includes(name)))
  return { naming, places: [...pii, starPlace(dimension, open)] }
}

export const namedDimensions = (plan: StagePlan, filled: ReadonlySet<string>): NamedDimension[] =>
  namings(plan, filled).map(placed)

/**
 * Since when record `d` has referred to its members: a record that is only touched has nothing newer to say about them.
 */
const namedSince =
  'case when d.source_updated_at is not null then least(d.valid_from, d.source_updated_at) end'

export const memberTableName = 'member'

/** Member attributes of all dimensions; attributes with the same name have the same type everywhere. */
export function attributesOf(dimensions: readonly NamedDimension[]): TypedColumn[] {
  const attributes = dimensions.flatMap(({ naming: { dimension, attributes } }) =>
    attributes.map(name => [name, storedTypes[dimension.columns[name]?.type ?? 'text'].sql] as const),
  )
  return [...new Map(attributes)].map(([name, sql]) => ({ name, sql }))
}

/** Selects the references of each stage, with the attributes they give and the tables these belong to. */
function references({ naming, places }: NamedDimension, all: readonly TypedColumn[]): string[] {
  return naming.references.map(({ stage, column, given }) => {
    const attribute = (name: string): string => quoteName(memberAttribute(column, name))
    const belongs = places.map(({ sourceTime, attributes }) => {
      const present = attributes.filter(name => given.has(name)).map(name => `${attribute(name)} is not null`)
      return [sourceTime, present.length === 0 ? 'false' : present.join(' or ')] as const
    })
    const isGiven = new Map(belongs)
    const columns = [
      `locator, ${quoteText(naming.name)} as dimension, ${quoteName(column)} as member_id`,
      ...all.map(({ name }) => `${given.has(name) ? attribute(name) : 'null'} as ${quoteName(name)}`),
      ...sourceTimes.map(at => `${isGiven.get(at) ?? 'false'} as is_${at}`),
    ]
    return `select ${columns.join(', ')} from ${stage} where ${quoteName(column)} <> '-1'`
  })
}

/**
 * Creates one row for each referenced member, in the stage. Each attribute comes from the newest record that gives it;
 * among equally new ones the greatest value wins, so neither record order nor batch boundaries matter. Merges equal
 * references before comparing them: structs compare field by field, which costs more.
 */
export function memberTable(
  dimensions: readonly NamedDimension[],
  attributes: readonly TypedColumn[],
): string {
  const names = attributes.map(({ name }) => quoteName(name))
  const newest = names.map(name => `arg_max(${name}, {t: source_time, v: ${name}}) as ${name}`)
  return `create or replace temp table ${memberTableName} as
    select * exclude (latest), latest.l as loaded_at, latest.r as run_id from (
      select ${['dimension', 'member_id', 'max({t: source_time, l: loaded_at, r: run_id}) as latest', ...newest].join(', ')},
        ${sourceTimes.map(at => `max(${at}) as ${at}`).join(', ')}
      from (
        select ${['dimension', 'member_id', ...names, 'd.loaded_at', 'd.run_id'].join(', ')},
          coalesce(max(${namedSince}), timestamptz '0001-01-01') as source_time,
          ${sourceTimes.map(at => `max(${namedSince}) filter (is_${at}) as ${at}`).join(', ')}
        from (${dimensions.flatMap(one => references(one, attributes)).join(' union all ')}) named
        join arriving d using (locator) group by all
      ) group by dimension, member_id)`
}

export const memberColumns = (attributes: readonly TypedColumn[]): TypedColumn[] => [
  ...['dimension', 'member_id'].map(name => ({ name, sql: 'text' })),
  ...attributes,
  ...[...sourceTimes, 'loaded_at'].map(name => ({ name, sql: 'timestamptz' })),
  { name: 'run_id', sql: 'text' },
]
