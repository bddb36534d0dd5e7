/** Writes the keys of a group as the service does, as a label for comparison, and as a title. */
import { isoWeek, mondayOf, utcDay } from '../../lib/dates.ts'
import type { Engine } from '../../warehouse/engine.ts'
import type { MetricDefinition } from './definition.ts'
import { type GroupKey, groupKeys } from './metric-query.ts'

type KeyShape = Pick<MetricDefinition, 'weekKey' | 'monthKey' | 'refKey'>

/** Names of companies, projects and agencies by kind and id. */
export type PartyNames = Readonly<Record<'company' | 'project' | 'agency', ReadonlyMap<string, string>>>

/** Id of a party that the record does not name. */
const unknownMember = '-1'

export type Keys = Readonly<Partial<Record<GroupKey, string>>>

function shapedTime(key: 'month' | 'week', value: string, shape: KeyShape): string {
  if (key === 'month') return shape.monthKey === 'firstDay' ? `${value}-01` : value
  // A week that begins on another day than Monday is named for the ISO week that holds its fourth day.
  return shape.weekKey === 'isoWeek' ? isoWeek(utcDay(value, 3)) : value
}

/** The `group` of our row, as the service would write it. */
export function groupObject(keys: Keys, shape: KeyShape, names: PartyNames): Record<string, unknown> {
  const entries = groupKeys.flatMap((key): [string, unknown][] => {
    const value = keys[key]
    if (value === undefined) return []
    if (key === 'month' || key === 'week') return [[key, shapedTime(key, value, shape)]]
    if (value === unknownMember) return [[key, null]]
    const name = names[key].get(value) ?? value
    return [[key, shape.refKey === 'ref' ? { id: value, name } : shape.refKey === 'id' ? value : name]]
  })
  return Object.fromEntries(entries)
}

/** The label by which both sides are matched: ids where the service gives them, else its own texts. */
export function groupLabel(group: Readonly<Record<string, unknown>>): string {
  return groupKeys
    .filter(key => Object.hasOwn(group, key))
    .map(key => labelOf(group[key]))
    .join('|')
}

function labelOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return unknownMember
  if (typeof value !== 'object') return String(value)
  const { id, name } = value as { id?: unknown; name?: unknown }
  return String(id ?? name ?? JSON.stringify(value))
}

/** Keys of a group that only the service has: ids for names where they are known, and days as we write them. */
export function keysOf(
  group: Readonly<Record<string, unknown>>,
  { names, definition }: { readonly names: PartyNames; readonly definition: MetricDefinition },
): Keys {
  const ids = (['company', 'project', 'agency'] as const).flatMap((key): [string, string][] => {
    const value = group[key]
    if (value === undefined) return []
    const text = labelOf(value)
    const id = names[key].has(text) ? text : [...names[key]].find(([, name]) => name === text)?.[0]
    return [[key, id ?? text]]
  })
  const month = typeof group.month === 'string' ? { month: group.month.slice(0, 7) } : {}
  const week = typeof group.week === 'string' ? { week: firstDay(group.week, definition.weekStart) } : {}
  return { ...Object.fromEntries(ids), ...month, ...week }
}

const daysBeforeMonday = { monday: 0, sunday: 1, saturday: 2 } as const

const firstDay = (week: string, start: MetricDefinition['weekStart']): string =>
  mondayOf(week, -daysBeforeMonday[start]) ?? week

/** A title for users: names where they are known. */
export function groupTitle(keys: Keys, shape: KeyShape, names: PartyNames): string {
  const parts = Object.values(groupObject(keys, { ...shape, refKey: 'name' }, names))
  return parts.length === 0 ? 'all' : parts.map(part => (part === null ? 'none' : String(part))).join(', ')
}

/** The shape of keys, as far as a group shows it; undefined for a shape that we do not know. */
export function shapeOf(
  group: Readonly<Record<string, unknown>>,
  names: PartyNames,
): { readonly [Rule in keyof KeyShape]?: KeyShape[Rule] | undefined } {
  const { month, week } = group
  const refs = (['company', 'project', 'agency'] as const)
    .filter(key => group[key] !== undefined && group[key] !== null)
    .map(key => refShape(group[key], names[key]))
  return {
    ...(month !== undefined && { monthKey: timeShape(month, /^\d{4}-\d{2}$/, 'yearMonth') }),
    ...(week !== undefined && { weekKey: timeShape(week, /^\d{4}-W\d{2}$/, 'isoWeek') }),
    ...(refs.length > 0 && { refKey: refs[0] }),
  }
}

function timeShape<Word>(value: unknown, pattern: RegExp, word: Word): Word | 'firstDay' | undefined {
  if (typeof value !== 'string') return undefined
  if (pattern.test(value)) return word
  return /^\d{4}-\d{2}-\d{2}$/.test(value) ? 'firstDay' : undefined
}

function refShape(value: unknown, names: ReadonlyMap<string, string>): KeyShape['refKey'] | undefined {
  if (typeof value === 'object') return 'ref'
  if (typeof value !== 'string') return undefined
  if (names.has(value)) return 'id'
  return [...names.values()].includes(value) ? 'name' : undefined
}

async function namesOf(
  engine: Pick<Engine, 'rows'>,
  key: keyof PartyNames,
): Promise<ReadonlyMap<string, string>> {
  const rows = await engine.rows<{ id: string; name: string | null }>(
    `select ${key}_id as id, name from star.dim_${key} where ${key}_id <> '-1'`,
  )
  return new Map(rows.map(({ id, name }) => [id, name ?? id]))
}

export async function readNames(engine: Pick<Engine, 'rows'>): Promise<PartyNames> {
  return {
    company: await namesOf(engine, 'company'),
    project: await namesOf(engine, 'project'),
    agency: await namesOf(engine, 'agency'),
  }
}
