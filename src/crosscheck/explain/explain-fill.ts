/** Finds the requisitions behind a difference in time to fill, and what unknown ones can account for. */

import { FillSearch } from './fill-search.ts'
import type { DifferingCell, Finding } from './finding.ts'
import type { Explaining } from './stored-records.ts'
import { UnknownRequisitions } from './unknown-requisitions.ts'

export interface Found {
  readonly findings: readonly Finding[]
  /** Whether the requests were enough for everything that was to be read. */
  readonly isWhole: boolean
}

function projectsOf(cells: readonly DifferingCell[]): readonly string[] | undefined {
  const projects = cells.flatMap(({ keys }) => keys.project ?? [])
  return projects.length === cells.length ? [...new Set(projects)] : undefined
}

export async function explainFill(explaining: Explaining, cells: readonly DifferingCell[]): Promise<Found> {
  const { stored, names } = explaining
  const search = new FillSearch(explaining, await stored.requisitions(projectsOf(cells)))
  await search.settle(cells, await stored.lostRequisitions())
  const unknown = new UnknownRequisitions(await stored.namedRequisitions(), names)
  const open = cells.filter(cell => !search.isSettled(cell))
  const rest = open.flatMap(cell => accountFor(cell, { search, unknown, explaining }))
  return { findings: [...search.findings(), ...rest], isWhole: !search.isExhausted }
}

interface Accounting {
  readonly search: FillSearch
  readonly unknown: UnknownRequisitions
  readonly explaining: Explaining
}

const metric = 'timeToFill'

/**
 * Acceptances that no stored requisition has. As many as unknown requisitions name the project and the agency are theirs.
 * More are excused only after every stored requisition that could have them was read again, or excluded by its times.
 */
function accountFor(cell: DifferingCell, { search, unknown, explaining }: Accounting): Finding[] {
  const { keys } = cell
  const missing = search.missing(cell)
  const isExamined = search.isExamined(cell)
  const isExcusable = missing > 0 && keys.week !== undefined && keys.agency !== undefined
  if (!isExcusable || !search.isIncluded(cell)) return [unsolved(cell, search)]
  const named = unknown.take(keys, missing, 'named')
  const others = isExamined ? unknown.take(keys, missing - named.length, 'any') : []
  const findings = [...named, ...others].map(
    ({ reference: record, kind, why }): Finding => ({
      ...{ metric, kind, record, ours: [], theirs: [{ keys, amount: 1 }] },
      sentence: `requisition ${record}: ${why}`,
    }),
  )
  const amount = missing - findings.length
  if (amount === 0) return findings
  return [...findings, isExamined ? nameless(keys, amount, explaining) : unsolved(cell, search)]
}

function nameless(keys: DifferingCell['keys'], amount: number, { names }: Explaining): Finding {
  const name = (key: 'agency' | 'project'): string => names[key].get(keys[key] ?? '') ?? keys[key] ?? 'none'
  const what = amount === 1 ? 'an acceptance' : `${amount} acceptances`
  return {
    ...{ metric, kind: 'uncovered', record: undefined, ours: [], theirs: [{ keys, amount }] },
    sentence: `${what} by ${name('agency')} in ${name('project')}, week of ${keys.week}: of no stored requisition, and no record names another: events or muster discover bring its id`,
  }
}

/** It touches the cell, and accounts for nothing. */
function unsolved(cell: DifferingCell, search: FillSearch): Finding {
  const { keys, theirs, ours } = cell
  const less = (theirs?.rawCount ?? 0) - (ours?.rawCount ?? 0)
  const what = less === 0 ? 'other days' : `${Math.abs(less)} acceptances too ${less > 0 ? 'few' : 'many'}`
  const place = Object.values(keys).join(', ') || 'all'
  const why = search.isExhausted
    ? 'not looked into, as the requests are used: raise --max-requests'
    : 'by no record that could be found'
  return {
    ...{ metric, kind: 'unknown', record: undefined, ours: [], theirs: [{ keys, amount: 0 }] },
    sentence: `${what} in ${place}, ${why}`,
  }
}
