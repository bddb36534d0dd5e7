/** Counts how often a fetch found a change after a change signal, and finds the signals in star. */
import { type ChangeSignal, changeSignals } from '../../contract/derived/change-signals.ts'
import type { Resource } from '../../contract/fields/resource.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { elapsedDays, quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { existingTables } from '../existing-tables.ts'
import { changeFound, double, type Fetch, instant } from './fetched.ts'

/** Counts for one change signal and kind of record; all halve in 90 days. */
export interface SignalCounts {
  /** Fetches with the signal, how many found no change, and how many would find none if the signal meant nothing. */
  readonly signalled: number
  readonly unchanged: number
  readonly unchangedExpected: number
  /** Changes found without the signal, and how many would have been found if its absence meant nothing. */
  readonly quietChanges: number
  readonly quietExpected: number
}

export interface SignalKind extends SignalCounts {
  readonly signal: string
  readonly kind: string
}

/** Signal name of webhook events; they are counted over all kinds together, as kind ''. */
export const eventSignal = 'event'

/** Days in which counts halve; old fetches say little about the signal today. */
const halfLife = 90

export const signalsOf = (resource: Resource): readonly ChangeSignal[] =>
  changeSignals.filter(({ of }) => of === resource.name)

/** Columns of the record's table, `s`, that its signals compare. */
export const relatedColumns = (resource: Resource): string =>
  [...new Set(signalsOf(resource).flatMap(({ pairs }) => pairs.map(([, other]) => other)))]
    .map(column => `, s.${quoteName(column)} as ${quoteName(`related ${column}`)}`)
    .join('')

/** SQL that joins to a record `q` when a related record last changed, as `alias`; reads the other table once. */
export function lastChange({ table, pairs }: ChangeSignal, alias: string): string {
  const related = pairs.map(([changed]) => `p.${quoteName(changed)}`)
  const equal = pairs.map(
    ([changed, other]) => `${alias}.${quoteName(changed)} = q.${quoteName(`related ${other}`)}`,
  )
  return `left join (
      select ${related.join(', ')}, max(coalesce(p.deleted_at, p.source_updated_at, p.loaded_at)) as changed_at
      from star.${quoteName(table)} p where ${related[0]} <> '-1' group by ${related.join(', ')}) ${alias}
    on ${equal.join(' and ')}`
}

/** Empty for a file from an earlier version. */
export async function signalCounts(engine: Engine, resource: string): Promise<SignalKind[]> {
  if (!(await existingTables(engine)).has('change_signal')) return []
  const rows = await engine.rows<SignalKind>(
    `select c.signal, c.kind, c.signalled, c.unchanged, c.unchanged_expected as "unchangedExpected",
       c.quiet_changes as "quietChanges", c.quiet_expected as "quietExpected"
     from ops.change_signal c where c.resource = $1 order by c.signal, c.kind`,
    [resource],
  )
  return rows.map(row => ({
    signal: row.signal,
    kind: row.kind,
    signalled: Number(row.signalled),
    unchanged: Number(row.unchanged),
    unchangedExpected: Number(row.unchangedExpected),
    quietChanges: Number(row.quietChanges),
    quietExpected: Number(row.quietExpected),
  }))
}

/** A later fetch of a stored record counts for every signal of its resource; the first fetch for none. */
function lessons(resource: Resource, fetches: readonly Fetch[]): string[] {
  return fetches.flatMap(({ recordId, fetchedAt, expected }) => {
    const row = (signal: string, kind: string, isSignalled: boolean): string =>
      `(${[recordId, signal, kind].map(quoteText).join(', ')}, ${instant(fetchedAt)}, ${isSignalled},
        ${double(expected?.rate ?? 0)}, ${double(expected?.fresh ?? 1)})`
    const related = expected ? signalsOf(resource) : []
    return [
      row(eventSignal, '', false),
      ...related.map(({ name }) =>
        row(name, expected?.kind ?? '', expected?.signals.includes(name) === true),
      ),
    ]
  })
}

/** Sums decimals, not doubles: their sum is the same in any order, so both engines agree. */
const sumWhere = (condition: string, value: string): string =>
  `cast(sum(case when ${condition} then cast(${value} as numeric(18, 9)) else 0 end) as double precision)`

const counts = ['signalled', 'unchanged', 'unchanged_expected', 'quiet_changes', 'quiet_expected']

/**
 * Adds the results of fetches to the counts. Runs in the transaction that loads the records, after loading them and before
 * updating ops.discovered, whose last fetch shows whether a record had changed.
 */
export async function countSignals(
  engine: Engine,
  resource: Resource,
  { fetches, at }: { readonly fetches: readonly Fetch[]; readonly at: string },
): Promise<void> {
  if (fetches.length === 0) return
  const { isChanged, exposure } = changeFound(resource.table)
  const older = `power(0.5, greatest(0.0, ${elapsedDays('excluded.updated_at', 'change_signal.updated_at')}) / ${halfLife}.0)`
  const added = counts.map(name => `${name} = change_signal.${name} * ${older} + excluded.${name}`)
  const isSignalled = `f.is_signalled or (f.signal = '${eventSignal}' and d.signals > 0)`
  await engine.run(
    `insert into ops.change_signal (resource, signal, kind, ${counts.join(', ')}, updated_at)
     select $1, q.signal, q.kind, ${sumWhere('q.is_signalled', '1')}, ${sumWhere('q.is_signalled', '1 - q.changed')},
       ${sumWhere('q.is_signalled', 'q.fresh')}, ${sumWhere('not q.is_signalled', 'q.changed')},
       ${sumWhere('not q.is_signalled', 'q.rate * q.exposure')}, cast($2 as timestamptz)
     from (
       select f.signal, f.kind, ${isSignalled} as is_signalled, ${isChanged} as changed, ${exposure} as exposure, f.rate, f.fresh
       from (values ${lessons(resource, fetches).join(', ')})
         as f(record_id, signal, kind, fetched_at, is_signalled, rate, fresh)
       join ops.discovered d on d.resource = $1 and d.record_id = f.record_id and d.fetches > 0
       join star.${quoteName(resource.table.name)} s on s.${quoteName(resource.table.key)} = f.record_id) q
     group by q.signal, q.kind
     on conflict (resource, signal, kind) do update set ${added.join(', ')}, updated_at = excluded.updated_at`,
    [resource.name, at],
  )
}
