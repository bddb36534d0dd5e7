/** The tables and main lines of `muster status`. */

import { byIdResources } from '../../contract/catalogue.ts'
import { counted, formatNumber } from '../../lib/counted.ts'
import type { BudgetSeen } from '../../state/requests/key-state.ts'
import type { HeldLease } from '../../state/runs/leases.ts'
import type { ResourceState } from '../../state/runs/resource-state.ts'
import type { Proof } from '../../state/scans/proof.ts'
import type { CommandContext } from '../context.ts'
import { type Cell, type Column, printTable } from '../terminal/output.ts'

export const resourceColumns: readonly Column[] = [
  'resource',
  'state',
  'rows',
  { title: 'watermark', drop: 2 },
  { title: 'windows', drop: 1 },
  'ids / total',
  { title: 'last run', drop: 3 },
  { title: 'quarantine', drop: 5 },
  { title: 'drift', drop: 4 },
  'note',
]

/** To the second, which is enough for people. */
const shortTime = (time: string | null): string | null => time?.replace(/\.\d+Z$/, 'Z') ?? null

/** Characters of a note that fit beside the figures; --json and `muster runs` have all of it. */
const noteLength = 60

function shortNote(note: string | null): string | null {
  return note === null || note.length <= noteLength ? note : `${note.slice(0, noteLength - 1)}…`
}

function windowsText({ accepted, scanning, refused }: Proof): string | null {
  const parts = [
    accepted > 0 && `${accepted} accepted`,
    scanning > 0 && `${scanning} scanning`,
    refused > 0 && `${refused} refused`,
  ]
  return parts.filter(part => part !== false).join(', ') || null
}

const byId = new Set(byIdResources.map(({ name }) => name))

/** Some kinds of keys read by id what others list. */
const isReadById = ({ resource, windows }: ResourceState): boolean =>
  byId.has(resource) || (windows.length > 0 && windows.every(({ kind }) => kind === 'by id'))

/** Resources read by id have no proof: an unknown id would not be missed. */
function proofText(one: ResourceState): string | null {
  const { distinctIds, expectedIds, accepted } = one.proof
  return accepted === 0 || isReadById(one)
    ? null
    : `${formatNumber(distinctIds)} / ${formatNumber(expectedIds)}`
}

/** A run records the state of a resource when it ends; until then its scans show it. */
function stateText({ state, access, lastRunAt, proof, windows }: ResourceState): string {
  if (access === 'no longer readable') return 'failed'
  if (access !== null && access !== 'readable') return 'skipped'
  if (state !== null) return state
  if (proof.scanning > 0) return 'scanning'
  return windows.length === 0 && lastRunAt === null ? 'not synced' : 'unknown'
}

export function resourceRow(one: ResourceState): readonly Cell[] {
  return [
    one.resource,
    stateText(one),
    one.rows,
    shortTime(one.watermark),
    windowsText(one.proof),
    proofText(one),
    shortTime(one.lastRunAt),
    one.quarantined ?? 'unknown',
    one.drifted,
    shortNote(one.accessReason ?? one.note),
  ]
}

export function printWindows(context: CommandContext, resources: readonly ResourceState[]): void {
  const columns = [
    'resource',
    'kind',
    { title: 'from', drop: 6 },
    { title: 'to', drop: 7 },
    { title: 'scope', drop: 5 },
    'state',
    'ids',
    'total',
    { title: 'pages', drop: 4 },
    { title: 'attempts', drop: 3 },
    { title: 'started', drop: 1 },
    { title: 'accepted', drop: 2 },
  ]
  printTable(
    context,
    columns,
    resources
      .flatMap(({ windows }) => windows)
      .map(window => [
        window.resource,
        window.kind,
        window.from_day,
        window.to_day,
        window.scope,
        window.state,
        Number(window.distinct_ids),
        Number(window.expected_ids),
        Number(window.pages),
        Number(window.attempt),
        shortTime(window.started_at),
        shortTime(window.accepted_at),
      ]),
  )
}

/** A count with its noun, unless it is zero. `one` is the singular where it differs. */
function some(count: number, several: string, one = several): string[] {
  return count > 0 ? [counted(count, one, several)] : []
}

/** One sentence that says whether anything needs attention. */
export function summaryLine(resources: readonly ResourceState[]): string {
  const states = resources.map(stateText)
  const having = (state: string): number => states.filter(one => one === state).length
  const sum = (of: (one: ResourceState) => number): number =>
    resources.reduce((total, one) => total + of(one), 0)
  const lists = resources.filter(one => !isReadById(one))
  const complete = lists.filter(({ proof }) => proof.accepted > 0 && proof.scanning + proof.refused === 0)
  const reachable = lists.filter(one => stateText(one) !== 'skipped').length
  const scanning = sum(({ proof }) => proof.scanning)
  const refused = sum(({ proof }) => proof.refused)
  const quarantined = sum(one => one.quarantined ?? 0)
  const drifted = sum(one => one.drifted)
  const troubles = [
    ...some(having('failed'), 'failed'),
    ...some(having('incomplete'), 'incomplete'),
    ...some(having('stopped'), 'stopped before the end'),
    ...some(having('skipped'), 'not readable with this key'),
    ...some(having('not synced'), 'not synced'),
    ...some(resources.filter(({ emptySince }) => emptySince !== null).length, 'empty at the service'),
    ...some(scanning, 'windows not read to the end', 'window not read to the end'),
    ...some(refused, 'windows refused', 'window refused'),
    ...some(quarantined, 'records in quarantine', 'record in quarantine'),
    ...some(drifted, 'fields or values drifted', 'field or value drifted'),
  ]
  const head = `${complete.length} of ${reachable} resources proved complete`
  return [head, ...troubles].join(', ')
}

/** For a list that the service shows as empty; undefined for others. */
export function emptyLine({ resource, emptySince, rows }: ResourceState): string | undefined {
  if (emptySince === null) return undefined
  return `empty at the service: ${resource}, since ${shortTime(emptySince)}; ${formatNumber(rows)} are stored: if they are deleted, muster sweep ${resource} --most ${rows}`
}

/** For a list whose pages are not what its answers say; undefined for others. */
export function pagingLine({ resource, pageSize, hiddenRows }: ResourceState): string | undefined {
  const parts = [
    ...(pageSize === null ? [] : [`a page has ${counted(pageSize, 'row')} at most, whatever is asked for`]),
    ...(hiddenRows === null ? [] : [`its total counted ${counted(hiddenRows, 'row')} that no page showed`]),
  ]
  return parts.length === 0 ? undefined : `${resource}: ${parts.join('; ')}`
}

/** A lease: of a running sync, or left by a process that died. */
export function holderLine({ resource, holder, since, until, isPresent }: HeldLease): string {
  const began = since === null ? '' : ` since ${shortTime(since)}`
  return isPresent
    ? `${resource} is being synced by ${holder}${began}; lease until ${shortTime(until)}`
    : `${resource} was left by ${holder}, which died without finishing: the next sync takes it over`
}

export const lostRunLine = (id: string): string =>
  `run ${id} died without finishing; the next sync continues from what it committed`

export function budgetLine(budget: BudgetSeen | undefined): string {
  if (!budget) return 'budget: this key has not synced into this file'
  const { perMinute, perDay, remainingToday, observedAt } = budget
  const told = (limit: number | null): string => (limit === null ? 'an unknown number' : formatNumber(limit))
  const limits = `${told(perMinute)} requests a minute, ${told(perDay)} a day`
  if (remainingToday === null) return `budget: ${limits}; what is left of the day is unknown`
  return `budget: ${limits}; ${formatNumber(remainingToday)} were left when the last run began, ${shortTime(observedAt)}`
}
