/** Draws the scenario of a seed: its lists, how often they change, and its faults, quirks and kills. Most seeds draw only some. */

import type { Treatment } from '../../src/contract/derived/field-rules.ts'
import { namedRng, type Rng } from '../../src/lib/rng.ts'
import type { ContractOptions } from '../../src/sandbox/options.ts'
import type { CollectionName } from '../../src/sandbox/world.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { type FaultName, type FaultRates, faultNames } from '../fault-layer/faults.ts'
import type { Quirks } from '../fault-layer/quirk-settings.ts'
import { type ChangeKind, changeKinds } from './changes.ts'

/** Lists that a seed may sync, with the sandbox collection behind each. */
const collections = {
  timesheets: 'timesheets',
  expenses: 'expenses',
  invoices: 'invoices',
  users: 'users',
  sites: 'sites',
  projects: 'projects',
  'access-rules': 'accessRuleMappings',
} as const satisfies Record<string, CollectionName>

export type ListName = keyof typeof collections

/** Resources that a seed may read by id, with the sandbox collection behind each. */
export const byIdCollections = {
  assignments: 'assignments',
  requisitions: 'requisitions',
  trades: 'trades',
  rates: 'rates',
  'purchase-orders': 'purchaseOrders',
  'credit-notes': 'creditNotes',
} as const satisfies Record<string, CollectionName>

export type ByIdName = keyof typeof byIdCollections

export type ResourceName = ListName | ByIdName

export const collectionOf = (name: ResourceName): CollectionName =>
  ({ ...collections, ...byIdCollections })[name]

export interface Scenario {
  readonly engine: Engine['kind']
  readonly variant: number
  readonly lists: readonly ListName[]
  readonly byId: readonly ByIdName[]
  readonly days: number
  readonly changesPerDay: number
  /** Share of the requests before which records change. */
  readonly changesBetween: number
  readonly changesAtOnce: number
  readonly changes: readonly ChangeKind[]
  readonly deletions: boolean
  readonly faults: FaultRates
  readonly options: Partial<ContractOptions>
  readonly perMinute: number
  readonly perDay: number
  /** How the service deviates from its contract. */
  readonly quirks: Quirks
  /** The first day with quirks, counted from 1. */
  readonly quirksFrom: number
  /** Share of the days on which the process is killed. */
  readonly kills: number
  /** Share of the days with a sweep. */
  readonly sweeps: number
  /**
   * Whether the warehouse is a file with all tables, on which `build`, `check`, `crosscheck` and `publish` run too. Otherwise
   * it has only the tables of its resources, and stays open between processes.
   */
  readonly hasAllTables: boolean
  /** Whether records that are read by id change in the minutes after a run, with an event for each change. */
  readonly hasChangesAfterRun: boolean
  /** Rules of the field policy, by pattern. */
  readonly fields: Readonly<Record<string, Treatment>>
}

const pick = <Item>(rng: Rng, items: readonly Item[]): Item => items[Math.floor(rng() * items.length)]!

const pickSome = <Item>(rng: Rng, items: readonly Item[], share: number): Item[] => {
  const chosen = items.filter(() => rng() < share)
  return chosen.length > 0 ? chosen : [pick(rng, items)]
}

/** Faults that take real time, not just simulated time. */
const slowFaults: readonly FaultName[] = ['hang', 'slow-body']
/** Rare, because Muster accepts an answer that it receives twice in a row. */
const rareFaults: readonly FaultName[] = ['no-rows']

function drawFaults(rng: Rng): FaultRates {
  if (rng() < 0.4) return {}
  const names = pickSome(rng, faultNames, 0.25)
  return Object.fromEntries(
    names.map(name => [
      name,
      slowFaults.includes(name) ? 0.005 : pick(rng, rareFaults.includes(name) ? [0.02] : [0.02, 0.05, 0.15]),
    ]),
  )
}

/** Quirks of list pages, with values for pages of a few rows. */
export const drawnQuirks: readonly Quirks[] = [
  { 'page-cap': 3 },
  { 'limit-cap': 3 },
  { 'cut-pages': 5 },
  { 'short-page': 2 },
  { 'same-page': 'yes' },
  { 'repeat-page': 2 },
  { hidden: 3 },
  { empty: 'yes' },
  { 'total-cap': 10 },
  { total: 'null' },
  { total: 'missing' },
  { total: 'text' },
  { total: 'shrinking' },
  { success: 'false' },
  { 'forbidden-after': 3 },
  { broken: 2 },
  { 'odd-keys': ['empty', 'quote', 'proto'], 'odd-every': 4 },
]

/** Drawn from a stream of their own, so that the seeds draw everything else as before. */
export const addedQuirks: readonly Quirks[] = [
  { 'total-over': 3 },
  { 'total-over': 10 },
  { 'date-field': 'ignored' },
]

/**
 * Leaves out a total that is too low if pages are cut as well. Together they cannot be detected: a cut last page looks like the
 * end of the list (docs/paging.md).
 */
const withoutConflicts = ({ 'total-cap': total, ...others }: Quirks): Quirks =>
  total === undefined || 'cut-pages' in others ? others : { 'total-cap': total, ...others }

const drawQuirks = (rng: Rng): Quirks =>
  rng() < 0.5
    ? {}
    : withoutConflicts({ ...pick(rng, drawnQuirks), ...(rng() < 0.2 && pick(rng, drawnQuirks)) })

/**
 * Whether two quirks exclude each other. A total is too low or too high, never both. An ignored date field must start on the
 * first day, because Muster trusts a filter that worked once (docs/paging.md); an empty list starts on the second.
 */
const conflicts = (added: Quirks, drawn: Quirks): boolean =>
  ('total-over' in added && 'total-cap' in drawn) || ('date-field' in added && 'empty' in drawn)

const withAdded = (rng: Rng, drawn: Quirks): Quirks => {
  if (rng() < 0.8) return drawn
  const added = pick(rng, addedQuirks)
  return conflicts(added, drawn) ? drawn : { ...drawn, ...added }
}

/** Whether the quirks may hide a record from every page without any contradiction between the answers. */
export const mayHide = ({ quirks }: Scenario): boolean => 'hidden' in quirks || 'empty' in quirks

/** The same for short lists, whose second page has the same last rows in every order and at every page size. */
export const maySeemHidden = ({ quirks }: Scenario): boolean => 'short-page' in quirks

const drawOptions = (rng: Rng): Partial<ContractOptions> => ({
  ...(rng() < 0.4 && { ties: 'random' }),
  ...(rng() < 0.3 && { from: 'exclusive' }),
  ...(rng() < 0.3 && { to: pick(rng, ['midnight', 'exclusive'] as const) }),
  ...(rng() < 0.3 && { 'day-zone': pick(rng, ['Europe/London', 'Pacific/Auckland', '-11:00', '+05:30']) }),
  ...(rng() < 0.3 && { absent: pick(rng, ['null', 'omitted', 'random'] as const) }),
  ...(rng() < 0.3 && { 'rate-window': 'sliding' }),
  ...(rng() < 0.3 && { 'retry-after': pick(rng, ['date', 'absent'] as const) }),
})

/** Field policies. The oracle ignores the fields that they treat, because it compares open columns only. */
const drawnFields: readonly Scenario['fields'][] = [
  { '*.email': 'hash' },
  { 'timesheets.worker.*': 'block', '*.email': 'block' },
  { '*.email': 'hash', '*.phone': 'block', 'users.firstName': 'block', '*.comments': 'hash' },
]

/** None for a warehouse with all tables: it also runs commands that read their own settings. */
const drawFields = (
  rng: Rng,
  { hasAllTables }: Pick<Scenario, 'hasAllTables'>,
  without: readonly string[],
): Scenario['fields'] =>
  hasAllTables || without.includes('fields') || rng() < 0.6 ? {} : pick(rng, drawnFields)

/** Restricts what a seed draws, as the command line asks. */
export interface Restrictions {
  /**
   * Changes, faults, quirks and options to leave out, for example because of a known failure. `kills`, `quirks` and `by-id`
   * leave out all of their kind.
   */
  readonly without: readonly string[]
  /** One list, and two days at most. */
  readonly isSmall: boolean
  /** Up to seven lists of up to eight pages each, and six resources read by id, in a warehouse with all tables. */
  readonly isWide: boolean
  /** Milliseconds by which the machine's clock may be wrong; empty if it is right. */
  readonly clockShifts: readonly number[]
}

function quirksFrom(quirks: Quirks, drawn: number): number {
  if ('empty' in quirks) return 2
  return 'date-field' in quirks ? 1 : drawn
}

/** Names that `--without` accepts: everything that a seed may draw. An `Rng` that always returns 0 draws every option. */
export const excludableNames: readonly string[] = [
  ...changeKinds,
  ...faultNames,
  ...[...drawnQuirks, ...addedQuirks].flatMap(quirks => Object.keys(quirks)),
  ...Object.keys(drawOptions(() => 0)),
  ...['kills', 'quirks', 'by-id', 'fields'],
]

export function drawScenario(seed: number, engine: Engine['kind'], restrictions: Restrictions): Scenario {
  const { without, isSmall, isWide } = restrictions
  const draw = isWide ? wide : narrow
  const byId = without.includes('by-id') ? [] : draw.byId(namedRng(seed, 'by id'))
  const scenario = draw.scenario(namedRng(seed, 'climate'), engine)
  const lists = byId.length > 0 ? draw.withTimesheets(scenario.lists) : scenario.lists
  const keep = <Of extends object>(all: Of): Of =>
    Object.fromEntries(Object.entries(all).filter(([name]) => !without.includes(name))) as Of
  const quirks = without.includes('quirks')
    ? {}
    : keep(withAdded(namedRng(seed, 'added lies'), scenario.quirks))
  // An emptied list is suspicious only if it had rows before, so it needs a day without the quirk first.
  const isEmptied = 'empty' in quirks
  const days = isEmptied ? Math.max(2, scenario.days) : scenario.days
  return {
    ...scenario,
    byId,
    lists: isSmall ? lists.slice(0, 1) : lists,
    days: isSmall ? Math.min(days, 2) : days,
    quirksFrom: quirksFrom(quirks, scenario.quirksFrom),
    changes: scenario.changes.filter(kind => !without.includes(kind)),
    faults: keep(scenario.faults),
    options: keep(scenario.options),
    quirks,
    fields: drawFields(namedRng(seed, 'fields'), scenario, without),
    kills: without.includes('kills') ? 0 : scenario.kills,
  }
}

type DrawnScenario = Omit<Scenario, 'byId' | 'fields'>

/** Draws the parts of a scenario that decide its cost: resources and days. */
interface Draw {
  byId(rng: Rng): ByIdName[]
  /** Adds timesheets, because they refer to the first ids. */
  withTimesheets(lists: readonly ListName[]): ListName[]
  scenario(rng: Rng, engine: Engine['kind']): DrawnScenario
}

const listNames = Object.keys(collections) as ListName[]
const byIdNames = Object.keys(byIdCollections) as ByIdName[]

function drawConditions(
  rng: Rng,
): Omit<DrawnScenario, 'engine' | 'variant' | 'lists' | 'days' | 'hasAllTables' | 'hasChangesAfterRun'> {
  return {
    changesPerDay: pick(rng, [0, 4, 12]),
    changesBetween: pick(rng, [0, 0.2, 0.8]),
    changesAtOnce: pick(rng, [1, 1, 5]),
    changes: pickSome(rng, changeKinds, 0.5),
    deletions: rng() < 0.5,
    faults: drawFaults(rng),
    options: drawOptions(rng),
    perMinute: pick(rng, [30, 120, 3000]),
    perDay: pick(rng, [400, 50_000]),
    kills: pick(rng, [0, 0.5, 1]),
    sweeps: pick(rng, [0, 0.5, 1]),
    quirks: drawQuirks(rng),
    quirksFrom: pick(rng, [1, 2]),
  }
}

const wide: Draw = {
  /** A third of the seeds read records by id, always with assignments: timesheets refer to them, and they refer to the rest. */
  byId: rng => (rng() < 0.67 ? [] : byIdNames.filter(name => name === 'assignments' || rng() < 0.5)),
  withTimesheets: lists => [...new Set<ListName>(['timesheets', ...lists])],
  scenario: (rng, engine) => ({
    engine,
    variant: 1 + Math.floor(rng() * 3),
    lists: pickSome(rng, listNames, pick(rng, [0.1, 0.1, 0.3])),
    days: pick(rng, [1, 2, 2, 3]),
    ...drawConditions(rng),
    hasAllTables: true,
    hasChangesAfterRun: false,
  }),
}

/** Most seeds have one list, so that ten thousand seeds are affordable; a tenth draw two, to test lists together. */
const narrow: Draw = {
  byId(rng) {
    if (rng() < 0.8) return []
    return rng() < 0.5 ? ['assignments'] : [...new Set<ByIdName>(['assignments', pick(rng, byIdNames)])]
  },
  withTimesheets: () => ['timesheets'],
  scenario: (rng, engine) => ({
    engine,
    variant: 4 + Math.floor(rng() * 6),
    lists: [...new Set([pick(rng, listNames), ...(rng() < 0.1 ? [pick(rng, listNames)] : [])])],
    days: pick(rng, [1, 1, 1, 2, 3]),
    ...drawConditions(rng),
    hasAllTables: rng() < 0.015,
    hasChangesAfterRun: rng() < 0.5,
  }),
}
