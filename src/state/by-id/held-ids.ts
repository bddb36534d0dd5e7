/** Records that are held, with what tells how soon they are worth reading again. */
import type { Resource } from '../../contract/fields/resource.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { elapsedDays } from './elapsed-days.ts'
import { hintsAt, lastChange, tiedColumns } from './hints.ts'

/** Times in days. */
export interface HeldId {
  readonly id: string
  /** Its state at the source; '' where there is none. Records of one kind change alike. */
  readonly kind: string
  readonly isTerminal: boolean
  readonly age: number
  /** Since it last changed at the source. */
  readonly quietDays: number
  readonly changes: number
  readonly exposure: number
  readonly isSignalled: boolean
  /** Names of the hints that it has changed: what is tied to it did, since it was fetched. */
  readonly hints: readonly string[]
}

/** Sums over the records of one kind. */
export interface HeldKind {
  readonly kind: string
  readonly records: number
  readonly changes: number
  readonly exposure: number
  readonly exposureSquared: number
  readonly changesByExposure: number
  readonly changesSquared: number
}

export interface HeldQuestion {
  readonly resource: Resource
  /** ISO 8601. */
  readonly at: string
  /** ISO 8601: what was fetched since then is left out. */
  readonly fetchedBefore: string
}

function kindOf({ table }: Resource): string {
  if (table.columns.status) return `coalesce(s.status, '')`
  return table.columns.is_active ? `case when s.is_active then 'active' else 'inactive' end` : `''`
}

const joined = ({ name, table }: Resource): string =>
  `ops.discovered d left join star.${quoteName(table.name)} s on s.${quoteName(table.key)} = d.record_id
   where d.resource = ${quoteText(name)} and d.state = 'held'`

export async function heldKinds(engine: Engine, resource: Resource): Promise<HeldKind[]> {
  const rows = await engine.rows<HeldKind>(
    `select q.kind, count(*) as records, cast(sum(q.x) as double precision) as changes, sum(q.t) as exposure,
       sum(q.t * q.t) as "exposureSquared", sum(q.x * q.t) as "changesByExposure",
       cast(sum(q.x * q.x) as double precision) as "changesSquared"
     from (select ${kindOf(resource)} as kind, d.changes as x, d.exposure_days as t from ${joined(resource)}
       and d.fetches > 0) q
     group by q.kind`,
  )
  return rows.map(row => ({
    kind: row.kind,
    records: Number(row.records),
    changes: Number(row.changes),
    exposure: Number(row.exposure),
    exposureSquared: Number(row.exposureSquared),
    changesByExposure: Number(row.changesByExposure),
    changesSquared: Number(row.changesSquared),
  }))
}

const days = (since: string): string => elapsedDays('cast($1 as timestamptz)', since)

type HeldRow = Omit<HeldId, 'hints'> & Readonly<Record<string, unknown>>

/** A change of which the source says that it is still to come would hint for ever. */
const isSince = (alias: string): string =>
  `(${alias}.changed_at > q.fetched_at and ${alias}.changed_at <= cast($1 as timestamptz))`

/** As many at once as are small beside a batch of pages. */
const perRead = 20_000

/**
 * In order of id, some thousand at a time. A rate that came with its trade is read again with it, unless it was signalled
 * itself.
 */
export async function* heldIds(
  engine: Engine,
  { resource, at, fetchedBefore }: HeldQuestion,
): AsyncGenerator<HeldId> {
  const terminal = resource.table.columns.status
    ? `exists (select 1 from star.dim_entity_status e where e.is_terminal and e.status = s.status
        and e.entity = ${quoteText(resource.entity)})`
    : 'false'
  const told = hintsAt(resource).map((hint, index) => {
    const alias = `hint${index}`
    return { name: hint.name, alias, join: lastChange(hint, alias) }
  })
  for (let after = ''; ; ) {
    const rows = await engine.rows<HeldRow>(
      `select q.*${told.map(({ alias }) => `, ${isSince(alias)} as ${alias}`).join('')} from (
       select d.record_id as id, ${kindOf(resource)} as kind, ${terminal} as "isTerminal",
         ${days('d.last_fetched_at')} as age,
         coalesce(${days('s.source_updated_at')}, 0.0) as "quietDays", d.changes, d.exposure_days as exposure,
         d.signals > 0 as "isSignalled", d.last_fetched_at as fetched_at${tiedColumns(resource)}
       from ${joined(resource)} and (d.fetches > 0 or d.signals > 0)
         and d.last_fetched_at < cast($2 as timestamptz) and d.record_id > $3
       order by d.record_id limit ${perRead}) q
       ${told.map(({ join }) => join).join(' ')} order by q.id`,
      [at, fetchedBefore, after],
    )
    for (const row of rows)
      yield {
        id: row.id,
        kind: row.kind,
        isTerminal: row.isTerminal,
        isSignalled: row.isSignalled,
        hints: told.flatMap(({ name, alias }) => (row[alias] === true ? [name] : [])),
        age: Number(row.age),
        quietDays: Number(row.quietDays),
        changes: Number(row.changes),
        exposure: Number(row.exposure),
      }
    if (rows.length < perRead) return
    after = rows.at(-1)?.id ?? ''
  }
}
