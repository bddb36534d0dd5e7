/** Requisitions that other records name and that are not stored: how many acceptances of a cell they can be. */
import { utcDay } from '../../lib/dates.ts'
import type { NamedRequisition } from '../../state/by-id/unknown-references.ts'
import type { Keys, Names } from '../metrics/group-keys.ts'
import type { FindingKind } from './finding.ts'

export interface UnknownRequisition {
  readonly reference: string
  readonly kind: FindingKind
  readonly why: string
}

/** All namings of one requisition. */
type Namings = readonly NamedRequisition[]

function standing(namings: Namings): Omit<UnknownRequisition, 'reference'> {
  const withId = namings.filter(({ requisition_id: id }) => id !== null)
  const refused = withId.find(({ state }) => state === 'missing' || state === 'refused')
  if (withId.length === 0)
    return {
      kind: 'uncovered',
      why: 'named by the metric rows, and its id is unknown: events or muster discover bring it',
    }
  if (refused?.is_quarantined) return { kind: 'quarantined', why: 'it is in quarantine' }
  if (refused) return { kind: 'uncovered', why: `the service does not give it: ${refused.reason}` }
  return { kind: 'missing', why: 'not fetched yet: a sync brings it' }
}

export class UnknownRequisitions {
  readonly #byReference: readonly Namings[]
  readonly #names: Names
  /** One agency accepts a requisition once. */
  readonly #used = new Set<string>()

  constructor(named: readonly NamedRequisition[], names: Names) {
    const groups = new Map<string, NamedRequisition[]>()
    for (const one of named) {
      const name = `${one.company_id} ${one.reference}`
      groups.set(name, [...(groups.get(name) ?? []), one])
    }
    this.#byReference = [...groups.values()]
    this.#names = names
  }

  /**
   * So many at most that can be acceptances of the cell and were not given out before. Records of their own name the
   * agency; an agency that accepted and put nobody forward is named by none.
   */
  take(cell: Keys, count: number, agency: 'named' | 'any'): UnknownRequisition[] {
    const taken: UnknownRequisition[] = []
    for (const namings of this.#byReference) {
      const [first] = namings
      if (taken.length >= count || !first) break
      const use = `${first.company_id} ${first.reference} ${cell.agency}`
      if (this.#used.has(use) || !this.#canBe(namings, cell, agency)) continue
      this.#used.add(use)
      taken.push({ reference: first.reference, ...standing(namings) })
    }
    return taken
  }

  #canBe(namings: Namings, cell: Keys, agency: 'named' | 'any'): boolean {
    const isOf = (key: 'project' | 'agency', id: string | null, name: string | null): boolean =>
      id === null
        ? name !== null && name === (this.#names[key].get(cell[key] ?? '') ?? cell[key])
        : id === cell[key]
    // Two days more, whatever the zone of its days.
    const last = cell.week === undefined ? undefined : utcDay(cell.week, 8)
    return (
      namings.every(one => cell.company === undefined || one.company_id === cell.company) &&
      namings.some(one => isOf('project', one.project_id, one.project_name)) &&
      (agency === 'any' || namings.some(one => isOf('agency', one.agency_id, one.agency_name))) &&
      namings.every(({ created_date: day }) => day === null || last === undefined || day <= last)
    )
  }
}
