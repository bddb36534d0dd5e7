/** Reads from the ledger what users may want to be notified of: one condition a resource, key or figure. */
import { counted, formatNumber } from '../../lib/counted.ts'
import { dayMs, hourMs, utcDay } from '../../lib/dates.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { unknownValueQuery } from '../evidence/drift.ts'
import { lastCrosscheck } from '../marts/metrics.ts'
import { type FigureReading, readFigures } from '../monitoring.ts'
import { tableInQueries } from '../tables.ts'
import { firingAlerts } from './alerts.ts'
import type { NotifiedCondition } from './notifications.ts'

export interface ConditionLimits {
  readonly quarantineAbove: number
  readonly freshnessHours: number
  readonly budgetPercent: number
  readonly expiryDays: number
  readonly webhookHours: number
}

interface ConditionReader {
  readonly engine: Engine
  readonly limits: ConditionLimits
  /** Milliseconds since the epoch. */
  readonly now: number
  readonly figures: readonly FigureReading[]
  /** State that was sent last, by topic and subject. */
  sentState(topic: ConditionTopic, subject: string): string | null
}

interface FoundCondition {
  readonly subject: string
  /** Changes when users should be notified again. */
  readonly state: string
  readonly message: string
  readonly query?: string | null
}

const named = ({ figures }: ConditionReader, name: string): readonly FigureReading[] =>
  figures.filter(({ figure }) => figure.name === name)

/** Names shown; the query or command lists all. */
const shownNames = 5

const listed = (names: readonly string[]): string => {
  const more = names.length - shownNames
  return [...names.slice(0, shownNames), ...(more > 0 ? [`${more} more`] : [])].join(', ')
}

const driftWords = {
  'unknown field': 'new field',
  'unknown value': 'new value in',
  rounded: 'more digits in',
  'other form': 'changed type of',
} as const

/** Drift is never over, so the state counts it, and the message names what came since the last notification. */
async function schemaDrift(reader: ConditionReader): Promise<FoundCondition[]> {
  const rows = await reader.engine.rows<{ resource: string; path: string; kind: keyof typeof driftWords }>(
    'select resource, path, kind from ops.schema_drift order by resource, seen_at, path, kind',
  )
  return [...new Set(rows.map(({ resource }) => resource))].map(resource => {
    const own = rows.filter(row => row.resource === resource)
    const fresh = own.slice(Number(reader.sentState('schemaDrift', resource) ?? 0))
    const words = fresh.map(({ kind, path }) => `${driftWords[kind]} ${path}`)
    const table = tableInQueries('schema_drift')
    const values = fresh.some(({ kind }) => kind === 'unknown value') ? `; values: ${unknownValueQuery}` : ''
    return {
      subject: resource,
      state: String(own.length),
      message: `${resource} differs from the contract: ${listed(words)}${values}`,
      query: `select * from ${table} where resource = '${resource}'`,
    }
  })
}

async function quarantine(reader: ConditionReader): Promise<FoundCondition[]> {
  return named(reader, 'muster_quarantined_records')
    .filter(({ value }) => value > reader.limits.quarantineAbove)
    .map(({ labels: { resource = '' }, value }) => ({
      subject: resource,
      // Again at ten times as many.
      state: `${String(value).length} digits`,
      message: `${resource} has ${counted(value, 'record')} in quarantine`,
      query: `select * from ${tableInQueries('quarantine')} where resource = '${resource}' and resolved_at is null`,
    }))
}

async function freshness(reader: ConditionReader): Promise<FoundCondition[]> {
  const { freshnessHours } = reader.limits
  const old = named(reader, 'muster_resource_read_timestamp_seconds')
    .filter(({ value }) => reader.now - value * 1000 > freshnessHours * hourMs)
    .map(({ labels: { resource = '' } }) => resource)
  if (old.length === 0) return []
  const message = `last read completely more than ${counted(freshnessHours, 'hour')} ago: ${listed(old)}`
  return [{ subject: '', state: old.join(','), message }]
}

async function budget(reader: ConditionReader): Promise<FoundCondition[]> {
  const limits = named(reader, 'muster_budget_day_limit')
  return named(reader, 'muster_budget_day_left').flatMap(({ labels: { key = '' }, value }) => {
    const limit = limits.find(({ labels }) => labels.key === key)?.value ?? 0
    if (limit <= 0 || value * 100 > limit * reader.limits.budgetPercent) return []
    const message = `${formatNumber(value)} of ${formatNumber(limit)} requests of the day are left`
    return [{ subject: key, state: utcDay(reader.now), message }]
  })
}

/** Of the key that was used last: an earlier one may expire. */
async function keyExpiry({ engine, now, limits }: ConditionReader): Promise<FoundCondition[]> {
  const [row] = await engine.rows<{ key: string; at: string | null }>(
    `select k.api_key_id as key, k.expires_at as at from star.dim_api_key as k
     join ops.api_usage as u on u.api_key_id = k.api_key_id order by u.observed_at desc limit 1`,
  )
  const days = row?.at == null ? Number.NaN : Math.floor((Date.parse(row.at) - now) / dayMs)
  if (!row?.at || Number.isNaN(days) || days >= limits.expiryDays) return []
  const when = days < 0 ? 'has expired on' : `expires in ${counted(days, 'day')}, on`
  return [
    { subject: row.key, state: row.at, message: `the API key ${when} ${utcDay(row.at)}: ask for a new one` },
  ]
}

async function webhooksSilent({ engine, now, limits }: ConditionReader): Promise<FoundCondition[]> {
  const [row] = await engine.rows<{ at: string | null }>('select max(received_at) as at from ops.inbox')
  if (row?.at == null || now - Date.parse(row.at) <= limits.webhookHours * hourMs) return []
  const message = `no webhook event for more than ${counted(limits.webhookHours, 'hour')}; the last one came at ${row.at}`
  return [{ subject: '', state: row.at, message }]
}

async function deletionsHeld({ engine }: ConditionReader): Promise<FoundCondition[]> {
  const rows = await engine.rows<{ resource: string; missing: number; state: string }>(
    `select resource, missing, state from (
       select resource, missing, state, row_number() over (partition by resource order by started_at desc) as place
       from ops.sweep where state <> 'sweeping') as ranked
     where place = 1 and state = 'implausible' order by resource`,
  )
  return rows.map(({ resource, missing }) => ({
    subject: resource,
    state: String(missing),
    message: `a sweep of ${resource} did not find ${counted(Number(missing), 'record')} and deleted none, as so many are implausible; muster sweep ${resource} says what to do`,
  }))
}

async function crosscheck({ engine }: ConditionReader): Promise<FoundCondition[]> {
  const { unexplained = 0, compared = 0 } = (await lastCrosscheck(engine)) ?? {}
  if (unexplained === 0) return []
  return [
    {
      subject: '',
      state: String(unexplained),
      message: `${formatNumber(unexplained)} of ${counted(compared, 'figure')} differ from those of the service for no known reason`,
      query: `select * from ${tableInQueries('crosscheck')} where verdict = 'unexplained'`,
    },
  ]
}

const topics = {
  schemaDrift,
  quarantine,
  freshness,
  budget,
  keyExpiry,
  webhooksSilent,
  deletionsHeld,
  crosscheck,
  alert: ({ engine }: ConditionReader) => firingAlerts(engine),
}

export type ConditionTopic = keyof typeof topics
export type Condition = Omit<NotifiedCondition, 'severity'>

/** Reads the wanted topics. Undefined for a warehouse without these tables. */
export async function readConditions(
  reading: Omit<ConditionReader, 'figures'>,
  wanted: (topic: ConditionTopic) => boolean,
): Promise<Condition[] | undefined> {
  const figures = await readFigures(reading.engine, reading.now)
  if (!figures) return undefined
  const found: Condition[] = []
  for (const topic of Object.keys(topics) as ConditionTopic[]) {
    if (!wanted(topic)) continue
    for (const one of await topics[topic]({ ...reading, figures }))
      found.push({ topic, type: topic, query: null, ...one })
  }
  return found
}
