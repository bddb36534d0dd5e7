/** The lines that name the resources which are not whole: after a run, in the status, and when a copy is published. */
import type { NotWhole } from '../../state/scans/wholeness.ts'

/** `timesheets: never read completely: saw 450 of 650; a sweep ...`; resources for the same reasons stand together. */
function byReasons(found: readonly NotWhole[]): string[] {
  const names = new Map<string, string[]>()
  for (const name of new Set(found.map(({ resource }) => resource))) {
    const reasons = found.flatMap(({ resource, reason }) => (resource === name ? [reason] : [])).join('; ')
    names.set(reasons, [...(names.get(reasons) ?? []), name])
  }
  return [...names].map(([reasons, resources]) => `${resources.join(', ')}: ${reasons}`)
}

/** One line for each set of reasons. */
export const notWholeLines = (found: readonly NotWhole[]): string[] =>
  byReasons(found).map(line => `not whole: ${line}`)
