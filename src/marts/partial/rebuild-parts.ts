/** Makes the touched parts of a mart anew, and brings what the build computes beside its columns up to date in every row. */
import { changedRecords } from '../../state/marts/changes.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteName, quoteNames } from '../../warehouse/sql-text.ts'
import { ownColumns } from '../columns.ts'
import { asOfLiteral, fillTokens, type Moment, touchedTable } from '../inputs.ts'
import type { Mart } from '../mart.ts'
import { fillStatement, keysOf, requireKeys, tableOf } from '../table.ts'
import type { PartialPlan } from './choose.ts'
import { fillChanged, type Parts } from './parts.ts'

export interface PartialRebuild extends PartialPlan {
  readonly mart: Mart
  readonly moment: Moment & { readonly now: string }
  /** Rows of the mart until now. */
  readonly rows: number
}

/** With more rows to be replaced than this, and than half of the mart, making them all costs no more. */
const fewRows = 10_000

const inTouched = ({ columns }: Parts, own = quoteNames(columns)): string =>
  `(${own}) in (select ${quoteNames(columns)} from ${touchedTable})`

async function makeTouched(
  engine: Engine,
  parts: Parts,
  { moment, seen }: Pick<PartialRebuild, 'moment' | 'seen'>,
): Promise<void> {
  const names = quoteNames(parts.columns)
  const query = fillTokens(
    fillChanged(parts.touched, resource => changedRecords(resource, seen)),
    moment,
  )
  const areGiven = parts.columns.map(name => `part.${quoteName(name)} is not null`).join(' and ')
  await engine.run(`drop table if exists ${touchedTable}`)
  await engine.run(
    `create temp table ${touchedTable} as select distinct ${names} from (\n${query}\n) as part(${names}) where ${areGiven}`,
  )
}

/** Every row that was made lies in a touched part: others were not removed before. */
async function requireInside(
  engine: Engine,
  mart: Mart,
  { within, made }: { readonly within: string; readonly made: number },
): Promise<void> {
  const [row] = await engine.rows<{ n: number }>(
    `select count(*) as n from ${tableOf(mart.name)} where ${within}`,
  )
  if (Number(row?.n) !== made)
    throw new Error(
      `${made} rows were made for parts that have ${row?.n}: rows of other parts were among them`,
    )
  await requireKeys(engine, mart, within)
}

/** Undefined, with rows missing, when most of the mart would have to be made anew. */
async function replaceTouched(
  engine: Engine,
  parts: Parts,
  { mart, moment, seen, rows }: PartialRebuild,
): Promise<{ removed: number; made: number } | undefined> {
  const table = tableOf(mart.name)
  await makeTouched(engine, parts, { moment, seen })
  const removed = await engine.run(`delete from ${table} where ${inTouched(parts)}`)
  if (removed > Math.max(fewRows, rows / 2)) return undefined
  const fill = fillStatement(mart, table, { ...moment, isMade: columns => inTouched(parts, columns) })
  const made = await engine.run(engine.overWholeTables(fill))
  await requireInside(engine, mart, { within: inTouched(parts), made })
  return { removed, made }
}

/** Names beside ids, currencies, ended periods and readings by id: computed from the row, whichever build made it. */
function refreshStatement(mart: Mart, moment: Moment & { readonly now: string }): string | undefined {
  const computed = ownColumns(mart).flatMap(({ name, computed }) => (computed ? [{ name, ...computed }] : []))
  if (computed.length === 0) return undefined
  const keys = keysOf(mart)
  const once = computed.flatMap(one => one.once ?? [])
  const first = once.map(({ name, query }) => `${name} as materialized (${query})`)
  const values = computed.map(({ name, select }) => `${select} as ${quoteName(name)}`)
  const differs = computed.map(({ name, select }) => `made.${quoteName(name)} is distinct from (${select})`)
  const set = [
    ...computed.map(({ name }) => `${quoteName(name)} = fresh.${quoteName(name)}`),
    `as_of = ${asOfLiteral(moment.asOf)}`,
    `loaded_at = cast('${moment.now}' as timestamptz)`,
  ]
  return fillTokens(
    `update ${tableOf(mart.name)} as old set ${set.join(', ')} from (
      ${first.length > 0 ? `with ${first.join(', ')}` : ''}
      select ${[...keys.map(name => `made.${quoteName(name)}`), ...values].join(', ')}
      from ${tableOf(mart.name)} as made
      ${computed.flatMap(({ join }) => join ?? []).join('\n')}
      where ${differs.join(' or ')}
    ) as fresh
    where ${keys.map(name => `old.${quoteName(name)} = fresh.${quoteName(name)}`).join(' and ')}`,
    moment,
  )
}

/**
 * Inside the transaction of the mart. Undefined when it has to be filled whole after all. Otherwise the number of its rows,
 * and of those that were made anew.
 */
export async function rebuildParts(
  engine: Engine,
  rebuild: PartialRebuild,
): Promise<{ readonly rows: number; readonly made: number } | undefined> {
  const { parts, mart, moment } = rebuild
  const replaced = parts ? await replaceTouched(engine, parts, rebuild) : { removed: 0, made: 0 }
  if (parts) await engine.run(`drop table ${touchedTable}`)
  if (replaced === undefined) return undefined
  const refresh = refreshStatement(mart, moment)
  if (refresh !== undefined) await engine.run(refresh)
  return { rows: rebuild.rows - replaced.removed + replaced.made, made: replaced.made }
}
