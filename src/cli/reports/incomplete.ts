/** Formats the lines about incomplete resources: after a run, in the status, and when a copy is published. */
import type { IncompleteResource } from '../../state/scans/completeness.ts'

/** `timesheets: never read completely: saw 450 of 650; a sweep ...`; resources with the same reasons share a line. */
function byReasons(found: readonly IncompleteResource[]): string[] {
  const names = new Map<string, string[]>()
  for (const name of new Set(found.map(({ resource }) => resource))) {
    const reasons = found.flatMap(({ resource, reason }) => (resource === name ? [reason] : [])).join('; ')
    names.set(reasons, [...(names.get(reasons) ?? []), name])
  }
  return [...names].map(([reasons, resources]) => `${resources.join(', ')}: ${reasons}`)
}

/** One line for each set of reasons. */
export const incompleteLines = (found: readonly IncompleteResource[]): string[] =>
  byReasons(found).map(line => `incomplete: ${line}`)
