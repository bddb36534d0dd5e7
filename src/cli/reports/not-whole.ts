/** The lines that name the resources which are not whole: after a run, in the status, and when a copy is published. */
import type { NotWhole } from '../../state/scans/wholeness.ts'

/** `timesheets: never read completely: saw 450 of 650; a sweep ...` */
function byResource(found: readonly NotWhole[]): string[] {
  const names = [...new Set(found.map(({ resource }) => resource))]
  return names.map(name => {
    const reasons = found.flatMap(({ resource, reason }) => (resource === name ? [reason] : []))
    return `${name}: ${reasons.join('; ')}`
  })
}

/** One line a resource. */
export const notWholeLines = (found: readonly NotWhole[]): string[] =>
  byResource(found).map(line => `not whole: ${line}`)
