/** Finds the requisitions behind a difference in time to fill, and how much unknown ones can account for. */
import { utcDay } from '../../lib/dates.ts'
import { groupBy } from '../../lib/group-by.ts'
import type { NamedRequisition } from '../../state/by-id/unknown-references.ts'
import type { Keys, PartyNames } from '../metrics/group-keys.ts'
import { FillSearch } from './fill-search.ts'
import type { CrosscheckFinding, DifferingCell, FindingKind } from './finding.ts'
import type { ExplanationContext } from './stored-records.ts'

interface UnknownRequisition {
  readonly reference: string
  readonly kind: FindingKind
  readonly why: string
}

/** All mentions of one requisition by other records. */
type RequisitionNamings = readonly [NamedRequisition, ...NamedRequisition[]]

function standing(namings: RequisitionNamings): Omit<UnknownRequisition, 'reference'> {
  const withId = namings.filter(({ requisition_id: id }) => id !== null)
  const refused = withId.find(isRefused)
  if (withId.length === 0)
    return {
      kind: 'uncovered',
      why: 'named by the metric rows, but its id is unknown: events or muster discover bring it',
    }
  if (refused?.is_quarantined) return { kind: 'quarantined', why: 'it is in quarantine' }
  if (refused) return { kind: 'uncovered', why: `the service refuses it: ${refused.reason}` }
  return { kind: 'missing', why: 'not fetched yet: a sync brings it' }
}

const isRefused = ({ state }: NamedRequisition): boolean => state === 'missing' || state === 'refused'

/** The search reads these again and finds what became of them, so they excuse nothing as unknown. */
const wasStored = (namings: RequisitionNamings): boolean =>
  !namings.some(isRefused) &&
  namings.some(({ state, is_deleted_here: isDeleted = false }) => state === 'stored' || isDeleted)

export class UnknownRequisitions {
  readonly #byReference: readonly RequisitionNamings[]
  readonly #names: PartyNames
  /** One agency accepts a requisition once. */
  readonly #used = new Set<string>()

  constructor(named: readonly NamedRequisition[], names: PartyNames) {
    const groups = groupBy(named, one => `${one.company_id} ${one.reference}`)
    this.#byReference = [...groups.values()].filter(namings => !wasStored(namings))
    this.#names = names
  }

  /**
   * Takes at most `count` unknown requisitions that can be acceptances of the cell, each only once. Other records
   * name the agency, except where it accepted and put no worker forward.
   */
  take(cell: Keys, count: number, agency: 'named' | 'any'): UnknownRequisition[] {
    const taken: UnknownRequisition[] = []
    for (const namings of this.#byReference) {
      if (taken.length >= count) break
      const [{ company_id: company, reference }] = namings
      const use = `${company} ${reference} ${cell.agency}`
      if (this.#used.has(use) || !this.#canBe(namings, cell, agency)) continue
      this.#used.add(use)
      taken.push({ reference, ...standing(namings) })
    }
    return taken
  }

  #canBe(namings: RequisitionNamings, cell: Keys, agency: 'named' | 'any'): boolean {
    const isOf = (key: 'project' | 'agency', id: string | null, name: string | null): boolean =>
      id === null ? name === (this.#names[key].get(cell[key] ?? '') ?? cell[key]) : id === cell[key]
    // Two extra days cover every zone.
    const last = cell.week === undefined ? undefined : utcDay(cell.week, 8)
    return (
      (cell.company === undefined || namings[0].company_id === cell.company) &&
      namings.some(one => isOf('project', one.project_id, one.project_name)) &&
      (agency === 'any' || namings.some(one => isOf('agency', one.agency_id, one.agency_name))) &&
      namings.every(({ created_date: day }) => day === null || last === undefined || day <= last)
    )
  }
}

export interface Explanation {
  readonly findings: readonly CrosscheckFinding[]
  /** Whether the requests sufficed for everything to be read. */
  readonly isComplete: boolean
}

function projectsOf(cells: readonly DifferingCell[]): readonly string[] | undefined {
  const projects = cells.flatMap(({ keys }) => keys.project ?? [])
  return projects.length === cells.length ? [...new Set(projects)] : undefined
}

export async function explainFill(
  explaining: ExplanationContext,
  cells: readonly DifferingCell[],
): Promise<Explanation> {
  const { stored, names } = explaining
  const search = new FillSearch(explaining, await stored.requisitions(projectsOf(cells)))
  await search.settle(cells, await stored.lostRequisitions())
  const unknown = new UnknownRequisitions(await stored.namedRequisitions(), names)
  const open = cells.filter(cell => !search.isSettled(cell))
  const rest = open.flatMap(cell => accountFor(cell, { search, unknown, explaining }))
  return { findings: [...search.findings(), ...rest], isComplete: !search.isExhausted }
}

interface Accounting {
  readonly search: FillSearch
  readonly unknown: UnknownRequisitions
  readonly explaining: ExplanationContext
}

const metric = 'timeToFill'

/**
 * Accounts for acceptances that no stored requisition has. Unknown requisitions that name the project and the agency
 * explain one each. Further ones are explained only after every stored requisition that could have them was read
 * again, or excluded by its times.
 */
function accountFor(cell: DifferingCell, { search, unknown, explaining }: Accounting): CrosscheckFinding[] {
  const { keys } = cell
  const missing = search.missing(cell)
  const isExamined = search.isExamined(cell)
  const isExcusable = missing > 0 && keys.week !== undefined && keys.agency !== undefined
  if (!isExcusable || !search.isIncluded(cell)) return [unsolved(cell, search)]
  const named = unknown.take(keys, missing, 'named')
  const others = isExamined ? unknown.take(keys, missing - named.length, 'any') : []
  const findings = [...named, ...others].map(
    ({ reference: record, kind, why }): CrosscheckFinding => ({
      ...{ metric, kind, record, ours: [], theirs: [{ keys, amount: 1 }] },
      sentence: `requisition ${record}: ${why}`,
    }),
  )
  const amount = missing - findings.length
  if (amount === 0) return findings
  return [...findings, isExamined ? nameless(keys, amount, explaining) : unsolved(cell, search)]
}

function nameless(
  keys: DifferingCell['keys'],
  amount: number,
  { names }: ExplanationContext,
): CrosscheckFinding {
  const name = (key: 'agency' | 'project'): string => names[key].get(keys[key] ?? '') ?? keys[key] ?? 'none'
  const what = amount === 1 ? 'an acceptance' : `${amount} acceptances`
  return {
    ...{ metric, kind: 'uncovered', record: undefined, ours: [], theirs: [{ keys, amount }] },
    sentence: `${what} by ${name('agency')} in ${name('project')}, week of ${keys.week}: no stored requisition has it, and no record names another: events or muster discover bring its id`,
  }
}

/** A finding that names the cell but accounts for none of the difference. */
function unsolved(cell: DifferingCell, search: FillSearch): CrosscheckFinding {
  const { keys, theirs, ours } = cell
  const less = (theirs?.rawCount ?? 0) - (ours?.rawCount ?? 0)
  const many = less < 0 ? `${-less} acceptances too many` : 'other days'
  const what = less > 0 ? `${less} acceptances too few` : many
  const place = Object.values(keys).join(', ') || 'all'
  const why = search.isExhausted
    ? 'not looked into, as the requests are used: raise --max-requests'
    : 'no record behind it was found'
  return {
    ...{ metric, kind: 'unknown', record: undefined, ours: [], theirs: [{ keys, amount: 0 }] },
    sentence: `${what} in ${place}, ${why}`,
  }
}
