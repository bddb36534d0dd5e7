/** What a seed decides: which lists, how busy they are, which faults, when the process is killed. Much of it not at all. */

import type { Treatment } from '../../src/contract/derived/field-rules.ts'
import { namedRng, type Rng } from '../../src/lib/rng.ts'
import type { ContractOptions } from '../../src/sandbox/options.ts'
import type { CollectionName } from '../../src/sandbox/world.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { type FaultName, type FaultRates, faultNames } from '../fault-layer/faults.ts'
import type { Quirks } from '../fault-layer/quirk-settings.ts'
import { type ChangeKind, changeKinds } from './changes.ts'

/** Lists that a seed may sync, and the collection of the sandbox that each shows. */
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

/** Records without a list that a seed may read, and the collection of the sandbox that shows each. */
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

export interface Climate {
  readonly engine: Engine['kind']
  readonly variant: number
  readonly lists: readonly ListName[]
  readonly byId: readonly ByIdName[]
  readonly nights: number
  readonly changesPerDay: number
  /** Share of the requests before which something changes. */
  readonly changesBetween: number
  readonly changesAtOnce: number
  readonly changes: readonly ChangeKind[]
  readonly deletions: boolean
  readonly faults: FaultRates
  readonly options: Partial<ContractOptions>
  readonly perMinute: number
  readonly perDay: number
  /** How the service deviates from its contract, from this night on. */
  readonly quirks: Quirks
  readonly quirksFrom: number
  /** Share of the nights whose process is killed. */
  readonly kills: number
  readonly sweeps: number
  /**
   * Whether the warehouse is a whole one in a file, over which `build`, `check`, `crosscheck` and `publish` run too. Any other
   * has the tables of its lists only, and stays open between processes.
   */
  readonly isWhole: boolean
  /** Whether records by id change in the minutes after a night, and events tell of it. */
  readonly hasEvenings: boolean
  /** Rules of the field policy, by pattern. */
  readonly fields: Readonly<Record<string, Treatment>>
}

const pick = <Item>(rng: Rng, items: readonly Item[]): Item => items[Math.floor(rng() * items.length)]!

const some = <Item>(rng: Rng, items: readonly Item[], share: number): Item[] => {
  const chosen = items.filter(() => rng() < share)
  return chosen.length > 0 ? chosen : [pick(rng, items)]
}

/** These take time that passes for everybody, and not only on the clock of the seed. */
const slow: readonly FaultName[] = ['hang', 'slow-body']
/** What comes twice in a row is believed. */
const rare: readonly FaultName[] = ['no-rows']

function faultsOf(rng: Rng): FaultRates {
  if (rng() < 0.4) return {}
  const names = some(rng, faultNames, 0.25)
  return Object.fromEntries(
    names.map(name => [
      name,
      slow.includes(name) ? 0.005 : pick(rng, rare.includes(name) ? [0.02] : [0.02, 0.05, 0.15]),
    ]),
  )
}

/** Quirks of the pages of a list, sized for pages of a few rows. */
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

/** Drawn apart from all others, which each seed draws as it did before there were these. */
export const addedQuirks: readonly Quirks[] = [
  { 'total-over': 3 },
  { 'total-over': 10 },
  { 'date-field': 'ignored' },
]

/** Where the total is too low, a last page that lacks rows looks like the end of the list: docs/paging.md says so. */
const consistent = ({ 'total-cap': total, ...others }: Quirks): Quirks =>
  total === undefined || 'cut-pages' in others ? others : { 'total-cap': total, ...others }

const quirksOf = (rng: Rng): Quirks =>
  rng() < 0.5 ? {} : consistent({ ...pick(rng, drawnQuirks), ...(rng() < 0.2 && pick(rng, drawnQuirks)) })

/** A total is capped or over; a filter that was honoured once is taken to stay so (docs/paging.md), and a list is empty from the second night. */
const excludes = (added: Quirks, drawn: Quirks): boolean =>
  ('total-over' in added && 'total-cap' in drawn) || ('date-field' in added && 'empty' in drawn)

const withAdded = (rng: Rng, drawn: Quirks): Quirks => {
  if (rng() < 0.8) return drawn
  const added = pick(rng, addedQuirks)
  return excludes(added, drawn) ? drawn : { ...drawn, ...added }
}

/** Quirks under which a record may be on no page although nothing contradicts the answers. */
export const mayHide = ({ quirks }: Climate): boolean => 'hidden' in quirks || 'empty' in quirks

/** The same where the second page has the same last rows in every order and at every size: in short lists. */
export const maySeemHidden = ({ quirks }: Climate): boolean => 'short-page' in quirks

const optionsOf = (rng: Rng): Partial<ContractOptions> => ({
  ...(rng() < 0.4 && { ties: 'random' }),
  ...(rng() < 0.3 && { from: 'exclusive' }),
  ...(rng() < 0.3 && { to: pick(rng, ['midnight', 'exclusive'] as const) }),
  ...(rng() < 0.3 && { 'day-zone': pick(rng, ['Europe/London', 'Pacific/Auckland', '-11:00', '+05:30']) }),
  ...(rng() < 0.3 && { absent: pick(rng, ['null', 'omitted', 'random'] as const) }),
  ...(rng() < 0.3 && { 'rate-window': 'sliding' }),
  ...(rng() < 0.3 && { 'retry-after': pick(rng, ['date', 'absent'] as const) }),
})

/** Policies about fields that the oracle does not compare: the oracle reads open columns. */
const drawnFields: readonly Climate['fields'][] = [
  { '*.email': 'hash' },
  { 'timesheets.worker.*': 'block', '*.email': 'block' },
  { '*.email': 'hash', '*.phone': 'block', 'users.firstName': 'block', '*.comments': 'hash' },
]

/** Drawn apart from all others. A whole warehouse also runs commands that read settings of their own. */
const fieldsOf = (
  rng: Rng,
  { isWhole }: Pick<Climate, 'isWhole'>,
  without: readonly string[],
): Climate['fields'] => (isWhole || without.includes('fields') || rng() < 0.6 ? {} : pick(rng, drawnFields))

/** What is left out of every seed. */
export interface Narrowed {
  /** Changes, faults, quirks and options, to look at others beside a known failure; `kills`, `quirks` and `by-id` are all of them. */
  readonly without: readonly string[]
  /** One list, two nights at most. */
  readonly isSmall: boolean
  /** Up to seven lists, each in up to eight pages, and records by id of six kinds, over a whole warehouse. */
  readonly isWide: boolean
  /** Milliseconds by which the clock of the machine may be wrong; empty where it is right. */
  readonly clockShifts: readonly number[]
}

function quirksFrom(quirks: Quirks, drawn: number): number {
  if ('empty' in quirks) return 2
  return 'date-field' in quirks ? 1 : drawn
}

/** What can be left out: every name that a seed draws. Where all that is less likely than certain happens, every option is drawn. */
export const leavable: readonly string[] = [
  ...changeKinds,
  ...faultNames,
  ...[...drawnQuirks, ...addedQuirks].flatMap(quirks => Object.keys(quirks)),
  ...Object.keys(optionsOf(() => 0)),
  ...['kills', 'quirks', 'by-id', 'fields'],
]

export function climateOf(seed: number, engine: Engine['kind'], narrowed: Narrowed): Climate {
  const { without, isSmall, isWide } = narrowed
  const draw = isWide ? wide : narrow
  const byId = without.includes('by-id') ? [] : draw.byId(namedRng(seed, 'by id'))
  const climate = draw.climate(namedRng(seed, 'climate'), engine)
  const lists = byId.length > 0 ? draw.withTimesheets(climate.lists) : climate.lists
  const kept = <Of extends object>(all: Of): Of =>
    Object.fromEntries(Object.entries(all).filter(([name]) => !without.includes(name))) as Of
  const quirks = without.includes('quirks')
    ? {}
    : kept(withAdded(namedRng(seed, 'added lies'), climate.quirks))
  // A list that never had rows may be empty in truth: it has them from the night before.
  const isEmptied = 'empty' in quirks
  const nights = isEmptied ? Math.max(2, climate.nights) : climate.nights
  return {
    ...climate,
    byId,
    lists: isSmall ? lists.slice(0, 1) : lists,
    nights: isSmall ? Math.min(nights, 2) : nights,
    quirksFrom: quirksFrom(quirks, climate.quirksFrom),
    changes: climate.changes.filter(kind => !without.includes(kind)),
    faults: kept(climate.faults),
    options: kept(climate.options),
    quirks,
    fields: fieldsOf(namedRng(seed, 'fields'), climate, without),
    kills: without.includes('kills') ? 0 : climate.kills,
  }
}

type Drawn = Omit<Climate, 'byId' | 'fields'>

/** What a seed draws from: its lists and how long it lasts decide what it costs. */
interface Draw {
  byId(rng: Rng): ByIdName[]
  /** Timesheets name the first ids. */
  withTimesheets(lists: readonly ListName[]): ListName[]
  climate(rng: Rng, engine: Engine['kind']): Drawn
}

const listNames = Object.keys(collections) as ListName[]
const byIdNames = Object.keys(byIdCollections) as ByIdName[]

function weather(
  rng: Rng,
): Omit<Drawn, 'engine' | 'variant' | 'lists' | 'nights' | 'isWhole' | 'hasEvenings'> {
  return {
    changesPerDay: pick(rng, [0, 4, 12]),
    changesBetween: pick(rng, [0, 0.2, 0.8]),
    changesAtOnce: pick(rng, [1, 1, 5]),
    changes: some(rng, changeKinds, 0.5),
    deletions: rng() < 0.5,
    faults: faultsOf(rng),
    options: optionsOf(rng),
    perMinute: pick(rng, [30, 120, 3000]),
    perDay: pick(rng, [400, 50_000]),
    kills: pick(rng, [0, 0.5, 1]),
    sweeps: pick(rng, [0, 0.5, 1]),
    quirks: quirksOf(rng),
    quirksFrom: pick(rng, [1, 2]),
  }
}

const wide: Draw = {
  /** A third of the seeds read records by id; assignments, which timesheets name and which name others, among them. */
  byId: rng => (rng() < 0.67 ? [] : byIdNames.filter(name => name === 'assignments' || rng() < 0.5)),
  withTimesheets: lists => [...new Set<ListName>(['timesheets', ...lists])],
  climate: (rng, engine) => ({
    engine,
    variant: 1 + Math.floor(rng() * 3),
    lists: some(rng, listNames, pick(rng, [0.1, 0.1, 0.3])),
    nights: pick(rng, [1, 2, 2, 3]),
    ...weather(rng),
    isWhole: true,
    hasEvenings: false,
  }),
}

/** Most seeds have one list: ten thousand of them are affordable then, and two lists meet in the others. */
const narrow: Draw = {
  byId(rng) {
    if (rng() < 0.8) return []
    return rng() < 0.5 ? ['assignments'] : [...new Set<ByIdName>(['assignments', pick(rng, byIdNames)])]
  },
  withTimesheets: () => ['timesheets'],
  climate: (rng, engine) => ({
    engine,
    variant: 4 + Math.floor(rng() * 6),
    lists: [...new Set([pick(rng, listNames), ...(rng() < 0.1 ? [pick(rng, listNames)] : [])])],
    nights: pick(rng, [1, 1, 1, 2, 3]),
    ...weather(rng),
    isWhole: rng() < 0.015,
    hasEvenings: rng() < 0.5,
  }),
}
