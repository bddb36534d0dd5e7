/** Reads stored records with the figures that decide when each is worth another fetch. */
import type { Resource } from '../../contract/fields/resource.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { elapsedDays, quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { lastChange, relatedColumns, signalsOf } from './signal-counts.ts'

/** Times in days. */
export interface StoredId {
  readonly id: string
  /** Its state at the source, or '' without one. Records of one kind change at similar rates. */
  readonly kind: string
  readonly isTerminal: boolean
  readonly age: number
  /** Days since it last changed at the source. */
  readonly quietDays: number
  readonly changes: number
  readonly exposure: number
  readonly isSignalled: boolean
  /** Names of its change signals: related records that changed since it was fetched. */
  readonly signals: readonly string[]
}

/** Sums over the records of one kind. */
export interface KindSums {
  readonly kind: string
  readonly records: number
  readonly changes: number
  readonly exposure: number
  readonly exposureSquared: number
  readonly changesByExposure: number
  readonly changesSquared: number
}

export interface StoredIdsQuery {
  readonly resource: Resource
  /** ISO 8601. */
  readonly at: string
  /** ISO 8601: records fetched since then are left out. */
  readonly fetchedBefore: string
}

function kindOf({ table }: Resource): string {
  if (table.columns.status) return `coalesce(s.status, '')`
  return table.columns.is_active ? `case when s.is_active then 'active' else 'inactive' end` : `''`
}

const joined = ({ name, table }: Resource): string =>
  `ops.discovered d left join star.${quoteName(table.name)} s on s.${quoteName(table.key)} = d.record_id
   where d.resource = ${quoteText(name)} and d.state = 'stored'`

export async function kindSums(engine: Engine, resource: Resource): Promise<KindSums[]> {
  const rows = await engine.rows<KindSums>(
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

type StoredRow = Omit<StoredId, 'signals'> & Readonly<Record<string, unknown>>

/** Ignores times in the future, which would be a signal until then. */
const isSince = (alias: string): string =>
  `(${alias}.changed_at > q.fetched_at and ${alias}.changed_at <= cast($1 as timestamptz))`

/** Takes little memory compared to a batch of pages. */
const perRead = 20_000

/** In order of id. A rate that came with its trade is refreshed with the trade, unless it has an event of its own. */
export async function* storedIds(
  engine: Engine,
  { resource, at, fetchedBefore }: StoredIdsQuery,
): AsyncGenerator<StoredId> {
  const terminal = resource.table.columns.status
    ? `exists (select 1 from star.dim_entity_status e where e.is_terminal and e.status = s.status
        and e.entity = ${quoteText(resource.entity)})`
    : 'false'
  const signals = signalsOf(resource).map((signal, index) => {
    const alias = `signal${index}`
    return { name: signal.name, alias, join: lastChange(signal, alias) }
  })
  for (let after = ''; ; ) {
    const rows = await engine.rows<StoredRow>(
      `select q.*${signals.map(({ alias }) => `, ${isSince(alias)} as ${alias}`).join('')} from (
       select d.record_id as id, ${kindOf(resource)} as kind, ${terminal} as "isTerminal",
         ${days('d.last_fetched_at')} as age,
         coalesce(${days('s.source_updated_at')}, 0.0) as "quietDays", d.changes, d.exposure_days as exposure,
         d.signals > 0 as "isSignalled", d.last_fetched_at as fetched_at${relatedColumns(resource)}
       from ${joined(resource)} and (d.fetches > 0 or d.signals > 0)
         and d.last_fetched_at < cast($2 as timestamptz) and d.record_id > $3
       order by d.record_id limit ${perRead}) q
       ${signals.map(({ join }) => join).join(' ')} order by q.id`,
      [at, fetchedBefore, after],
    )
    for (const row of rows)
      yield {
        id: row.id,
        kind: row.kind,
        isTerminal: row.isTerminal,
        isSignalled: row.isSignalled,
        signals: signals.flatMap(({ name, alias }) => (row[alias] === true ? [name] : [])),
        age: Number(row.age),
        quietDays: Number(row.quietDays),
        changes: Number(row.changes),
        exposure: Number(row.exposure),
      }
    if (rows.length < perRead) return
    after = rows.at(-1)?.id ?? ''
  }
}
