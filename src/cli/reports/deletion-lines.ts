/** What `muster status` says of deletions: only what needs somebody, or a sweep. */
import { formatNumber } from '../../lib/counted.ts'
import { type Absence, isNewerCount } from '../../state/evidence/absence.ts'

function countWords(absence: Absence): string[] {
  const { resource, total, held } = absence
  if (total === null || held === null || total === held || !isNewerCount(absence)) return []
  const next =
    held > total ? `muster sweep ${resource}` : `muster sync ${resource}, then muster sweep ${resource}`
  return [`the service counts ${formatNumber(total)}, ${formatNumber(held)} were held: ${next}`]
}

/** One line a resource that has something to tell. */
export function deletionLines(absences: readonly Absence[]): string[] {
  return absences.flatMap(absence => {
    const { resource, tombstoned, suspected } = absence
    const words = [
      ...(tombstoned > 0 ? [`${formatNumber(tombstoned)} deleted (ops.deletion)`] : []),
      ...(suspected > 0
        ? [`${formatNumber(suspected)} wait for a second witness: muster sweep ${resource}`]
        : []),
      ...countWords(absence),
    ]
    return words.length === 0 ? [] : [`${resource}: ${words.join('; ')}`]
  })
}
