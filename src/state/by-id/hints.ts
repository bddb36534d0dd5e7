/** Hints that records have changed: where they are found in star, and what reads made of them. */
import { type ChangeSignal, changeSignals } from '../../contract/derived/change-signals.ts'
import type { Resource } from '../../contract/fields/resource.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { existingTables } from '../existing-tables.ts'
import { elapsedDays } from './elapsed-days.ts'
import { double, evidence, type Fetch, instant } from './fetched.ts'

/** Of one hint and kind of record; all counts halve in 90 days. */
export interface HintCounts {
  /** Reads while it hinted; those of them that found no change; and how many would have, if it told nothing. */
  readonly told: number
  readonly unchanged: number
  readonly unchangedExpected: number
  /** Changes found while it did not hint, and how many would have been if that told nothing. */
  readonly quietChanges: number
  readonly quietExpected: number
}

export interface HintKind extends HintCounts {
  readonly hint: string
  readonly kind: string
}

/** What the events of a resource are called among its hints; they are counted over all kinds, as ''. */
export const eventHint = 'event'

/** Days in which counts halve: what a hint told long ago tells little of what it does now. */
const halfLife = 90

export const hintsAt = (resource: Resource): readonly ChangeSignal[] =>
  changeSignals.filter(({ of }) => of === resource.name)

/** Columns of the other table, `s`, that its hints compare, apart from its key. */
export const tiedColumns = (resource: Resource): string =>
  [...new Set(hintsAt(resource).flatMap(({ pairs }) => pairs.map(([, other]) => other)))]
    .map(column => `, s.${quoteName(column)} as ${quoteName(`tied ${column}`)}`)
    .join('')

/** Joined to a row `q` of a record as `alias`: when what is tied to it changed last. One pass, whatever is tied to what. */
export function lastChange({ table, pairs }: ChangeSignal, alias: string): string {
  const tied = pairs.map(([changed]) => `p.${quoteName(changed)}`)
  const equal = pairs.map(
    ([changed, other]) => `${alias}.${quoteName(changed)} = q.${quoteName(`tied ${other}`)}`,
  )
  return `left join (
      select ${tied.join(', ')}, max(coalesce(p.deleted_at, p.source_updated_at, p.loaded_at)) as changed_at
      from star.${quoteName(table)} p where ${tied[0]} <> '-1' group by ${tied.join(', ')}) ${alias}
    on ${equal.join(' and ')}`
}

/** Empty for a file that an earlier version made. */
export async function hintKinds(engine: Engine, resource: string): Promise<HintKind[]> {
  if (!(await existingTables(engine)).has('hint')) return []
  const rows = await engine.rows<HintKind>(
    `select h.hint, h.kind, h.told, h.unchanged, h.unchanged_expected as "unchangedExpected",
       h.quiet_changes as "quietChanges", h.quiet_expected as "quietExpected"
     from ops.hint h where h.resource = $1 order by h.hint, h.kind`,
    [resource],
  )
  return rows.map(row => ({
    hint: row.hint,
    kind: row.kind,
    told: Number(row.told),
    unchanged: Number(row.unchanged),
    unchangedExpected: Number(row.unchangedExpected),
    quietChanges: Number(row.quietChanges),
    quietExpected: Number(row.quietExpected),
  }))
}

/** Read again, a record tells something of every hint that there is of its resource; at first, of none. */
function lessons(resource: Resource, fetches: readonly Fetch[]): string[] {
  return fetches.flatMap(({ recordId, fetchedAt, expected }) => {
    const row = (hint: string, kind: string, told: boolean): string =>
      `(${[recordId, hint, kind].map(quoteText).join(', ')}, ${instant(fetchedAt)}, ${told},
        ${double(expected?.rate ?? 0)}, ${double(expected?.fresh ?? 1)})`
    const tied = expected ? hintsAt(resource) : []
    return [
      row(eventHint, '', false),
      ...tied.map(({ name }) => row(name, expected?.kind ?? '', expected?.hints.includes(name) === true)),
    ]
  })
}

/** Decimals add up to the same in any order, doubles do not: both engines have to learn the same. */
const sumWhere = (condition: string, value: string): string =>
  `cast(sum(case when ${condition} then cast(${value} as numeric(18, 9)) else 0 end) as double precision)`

const counts = ['told', 'unchanged', 'unchanged_expected', 'quiet_changes', 'quiet_expected']

/**
 * Adds what fetches found to what is known of the hints. Runs in the transaction that loads the records, after them and
 * before ops.discovered is told: whether a record had changed is seen by its last fetch.
 */
export async function learnHints(
  engine: Engine,
  resource: Resource,
  { fetches, at }: { readonly fetches: readonly Fetch[]; readonly at: string },
): Promise<void> {
  if (fetches.length === 0) return
  const { isChanged, exposure } = evidence(resource.table)
  const older = `power(0.5, greatest(0.0, ${elapsedDays('excluded.updated_at', 'hint.updated_at')}) / ${halfLife}.0)`
  const added = counts.map(name => `${name} = hint.${name} * ${older} + excluded.${name}`)
  const isTold = `f.is_told or (f.hint = '${eventHint}' and d.signals > 0)`
  await engine.run(
    `insert into ops.hint (resource, hint, kind, ${counts.join(', ')}, updated_at)
     select $1, q.hint, q.kind, ${sumWhere('q.is_told', '1')}, ${sumWhere('q.is_told', '1 - q.changed')},
       ${sumWhere('q.is_told', 'q.fresh')}, ${sumWhere('not q.is_told', 'q.changed')},
       ${sumWhere('not q.is_told', 'q.rate * q.exposure')}, cast($2 as timestamptz)
     from (
       select f.hint, f.kind, ${isTold} as is_told, ${isChanged} as changed, ${exposure} as exposure, f.rate, f.fresh
       from (values ${lessons(resource, fetches).join(', ')})
         as f(record_id, hint, kind, fetched_at, is_told, rate, fresh)
       join ops.discovered d on d.resource = $1 and d.record_id = f.record_id and d.fetches > 0
       join star.${quoteName(resource.table.name)} s on s.${quoteName(resource.table.key)} = f.record_id) q
     group by q.hint, q.kind
     on conflict (resource, hint, kind) do update set ${added.join(', ')}, updated_at = excluded.updated_at`,
    [resource.name, at],
  )
}
