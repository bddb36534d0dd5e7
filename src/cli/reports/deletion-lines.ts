/** Deletions in `muster status`: only what needs attention, or a sweep. */
import { counted, formatNumber } from '../../lib/counted.ts'
import { type Absence, isNewerCount } from '../../state/evidence/absence.ts'
import { tableInQueries } from '../../state/tables.ts'

function countWords(absence: Absence): string[] {
  const { resource, total, stored } = absence
  if (total === null || stored === null || total === stored || !isNewerCount(absence)) return []
  const next =
    stored > total ? `muster sweep ${resource}` : `muster sync ${resource}, then muster sweep ${resource}`
  return [`the service counts ${formatNumber(total)}, ${formatNumber(stored)} are stored: ${next}`]
}

/** One line for each resource with something to report. */
export function deletionLines(absences: readonly Absence[]): string[] {
  return absences.flatMap(absence => {
    const { resource, tombstoned, candidates } = absence
    const words = [
      ...(tombstoned > 0 ? [`${formatNumber(tombstoned)} deleted (${tableInQueries('deletion')})`] : []),
      ...(candidates > 0
        ? [
            `${counted(candidates, 'candidate waits', 'candidates wait')} for more evidence: muster sweep ${resource}`,
          ]
        : []),
      ...countWords(absence),
    ]
    return words.length === 0 ? [] : [`${resource}: ${words.join('; ')}`]
  })
}
