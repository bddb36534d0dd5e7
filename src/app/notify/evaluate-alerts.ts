/** Evaluates the alerts of the settings on settled data, and keeps what fires. */
import type { AlertSettings } from '../../config/alerts.ts'
import { counted } from '../../lib/counted.ts'
import { usualPeriods, usualRangeOf } from '../../lib/usual-range.ts'
import type { Mart } from '../../marts/mart.ts'
import { semanticCatalogue } from '../../semantic/catalogue.ts'
import { type AlertFinding, openAlerts, recordAlerts } from '../../state/notifications/alerts.ts'
import { columnsIn } from '../../warehouse/catalogue.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { type AlertQuery, alertQuery } from './alert-query.ts'

/** Throws ConfigError for the first alert that names something that does not exist. */
export function alertQueries(alerts: readonly AlertSettings[], marts: readonly Mart[]): AlertQuery[] {
  if (alerts.length === 0) return []
  const entities = semanticCatalogue(marts)
  return alerts.map(alert => alertQuery(alert, entities))
}

const compare: Readonly<Record<string, (value: number, limit: number) => boolean>> = {
  '>': (value, limit) => value > limit,
  '>=': (value, limit) => value >= limit,
  '<': (value, limit) => value < limit,
  '<=': (value, limit) => value <= limit,
}

interface MeasuredRow {
  readonly period: string | null
  readonly group_key: string
  readonly value: number | null
}

function findingOf({ alert }: AlertQuery, group: string, more: Partial<AlertFinding>): AlertFinding {
  return {
    ...{ alert: alert.name, group_key: group, measure: `${alert.mart}.${alert.measure}` },
    ...{ condition: alert.conditionText, state: 'unknown', period: null, value: null },
    ...{ low: null, high: null, query: null, note: null },
    ...more,
  }
}

/** One finding a group; a count or sum without rows is 0. `periods` is empty for a measure that is not counted by period. */
function judge(query: AlertQuery, periods: readonly string[], rows: readonly MeasuredRow[]): AlertFinding[] {
  const { alert, isCount } = query
  const [period = null, ...earlier] = periods
  const groups = new Set(rows.map(({ group_key }) => group_key))
  return [...(groups.size === 0 ? [''] : groups)].toSorted().map(group => {
    const valueAt = (at: string | null): number | null =>
      rows.find(row => row.group_key === group && row.period === at)?.value ?? (isCount ? 0 : null)
    const value = valueAt(period)
    const found = { period, value, query: query.rows(period, group) }
    if (value === null) return findingOf(query, group, { ...found, note: 'it has no value' })
    const { condition } = alert
    if (condition.kind === 'limit') {
      const fires = compare[condition.operator]?.(value, condition.limit)
      return findingOf(query, group, { ...found, state: fires ? 'fires' : 'quiet' })
    }
    const before = earlier.map(valueAt).filter(one => one !== null)
    if (before.length < usualPeriods) {
      const note = `only ${counted(before.length, 'settled period')} before it, of ${usualPeriods}`
      return findingOf(query, group, { ...found, note })
    }
    const { low, high } = usualRangeOf(before)
    const isUsual = value >= low && value <= high
    return findingOf(query, group, { ...found, low, high, state: isUsual ? 'quiet' : 'fires' })
  })
}

async function evaluate(
  engine: Engine,
  query: AlertQuery,
  built: ReadonlySet<string>,
): Promise<AlertFinding[]> {
  const { alert, columns } = query
  if (!columns.every(column => built.has(`${alert.mart}.${column}`)) || !built.has(alert.mart))
    return [findingOf(query, '', { note: `mart.${alert.mart} is not built` })]
  const wanted = alert.condition.kind === 'range' ? usualPeriods + 1 : 1
  const found = query.periods ? await engine.rows<{ period: string }>(`${query.periods} limit ${wanted}`) : []
  const periods = found.map(({ period }) => period)
  if (query.periods && periods.length === 0)
    return [findingOf(query, '', { note: `mart.${alert.mart} has no settled period yet` })]
  const { sql, values } = query.values(periods.at(-1))
  return judge(query, periods, await engine.rows<MeasuredRow>(sql, values))
}

/** Evaluates after a build. Returns what was found; undefined if there is nothing to evaluate, and nothing to end. */
export async function evaluateAlerts(
  engine: Engine,
  queries: readonly AlertQuery[],
  at: string,
): Promise<readonly AlertFinding[] | undefined> {
  if (queries.length === 0 && (await openAlerts(engine)).length === 0) return undefined
  const columns = await columnsIn(engine, ['mart'])
  const built = new Set(columns.flatMap(({ table, name }) => [table, `${table}.${name}`]))
  const findings: AlertFinding[] = []
  for (const query of queries) findings.push(...(await evaluate(engine, query, built)))
  await recordAlerts(engine, findings, at)
  return findings
}
