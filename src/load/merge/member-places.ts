/** Where the members that records name may be written: their dimension, and its twin for what is personal. */
import type { Table } from '../../contract/fields/table.ts'
import { memberTables, starColumns, twinColumns } from '../../warehouse/schema/physical.ts'
import { quoteName } from '../../warehouse/sql-text.ts'
import type { StagePlan } from '../read/plan.ts'

/** When a record last said something that belongs to the twin, or to star. */
export const saidAts = ['twin_said_at', 'star_said_at'] as const

/** Columns of a dimension that any of these references fills, in the order of the dimension. */
interface Naming {
  readonly name: string
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
    return { name, dimension, attributes, references }
  })
}

export interface Place {
  readonly qualified: string
  readonly key: string
  /** Columns that the batch may fill here, in the order of the dimension. */
  readonly attributes: readonly string[]
  /** Every column that references fill here; the hash of the row covers them. */
  readonly hashed: readonly string[]
  readonly saidAt: (typeof saidAts)[number]
  /** Holds for a row `t` that nothing better than references has filled. */
  readonly named: string
  /** Holds for a member `m` that may be inserted when it has no row yet. */
  readonly insertable: string
  readonly extra: readonly (readonly [string, string])[]
}

export const anyGiven = (row: string, names: readonly string[]): string =>
  names.length === 0 ? 'false' : `(${names.map(name => `${row}${quoteName(name)} is not null`).join(' or ')})`

/** A dimension of which records name members, and where those may be written. */
export interface NamedDimension {
  readonly naming: Naming
  /** The last one is the dimension itself. */
  readonly places: readonly Place[]
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
      qualified: `pii.${quoteName(dimension.piiTable)}`,
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

function placed(naming: Naming): NamedDimension {
  const { dimension, attributes } = naming
  const twins = twinPlaces(dimension, attributes)
  const open = attributes.filter(name => !twins.some(twin => twin.attributes.includes(name)))
  return { naming, places: [...twins, starPlace(dimension, open)] }
}

export const namedDimensions = (plan: StagePlan, filled: ReadonlySet<string>): NamedDimension[] =>
  namings(plan, filled).map(placed)
