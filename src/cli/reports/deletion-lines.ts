/** Deletions in `muster status`: only what needs attention, or a sweep. */
import { counted, formatNumber } from '../../lib/counted.ts'
import { type Absence, isNewerCount } from '../../state/evidence/absence.ts'
import { tableInQueries } from '../../state/tables.ts'

function countWords(absence: Absence): string[] {
  const { resource, total, held } = absence
  if (total === null || held === null || total === held || !isNewerCount(absence)) return []
  const next =
    held > total ? `muster sweep ${resource}` : `muster sync ${resource}, then muster sweep ${resource}`
  return [`the service counts ${formatNumber(total)}, ${formatNumber(held)} are stored: ${next}`]
}

/** One line for each resource with something to report. */
export function deletionLines(absences: readonly Absence[]): string[] {
  return absences.flatMap(absence => {
    const { resource, tombstoned, suspected } = absence
    const words = [
      ...(tombstoned > 0 ? [`${formatNumber(tombstoned)} deleted (${tableInQueries('deletion')})`] : []),
      ...(suspected > 0
        ? [
            `${counted(suspected, 'candidate waits', 'candidates wait')} for more evidence: muster sweep ${resource}`,
          ]
        : []),
      ...countWords(absence),
    ]
    return words.length === 0 ? [] : [`${resource}: ${words.join('; ')}`]
  })
}
