/** Reports resources that were read without proof that every record was seen, and lists that hide some. */
import { counted, formatNumber } from '../../lib/counted.ts'
import { MusterError } from '../../lib/errors.ts'

/** The shortfall of a scan that was not accepted. */
export interface Shortfall {
  readonly resource: string
  /** In records. */
  readonly seen: number
  readonly expected: number
  /** Why the scan proves nothing, such as "the list changed in each of 6 passes". */
  readonly reason: string
  /** What to do, other than to run again. */
  readonly next?: string
}

const runAgain =
  'everything read so far is loaded; run muster sync again, and report it to the service if it persists'
const lookFirst =
  'everything read so far is loaded; see muster status for the reasons; muster sync reads them again'

/** Adds up the shortfalls of parts of one resource, such as windows. */
function added(parts: readonly Shortfall[]): Shortfall[] {
  const byResource = new Map<string, Shortfall>()
  for (const part of parts) {
    const { seen = 0, expected = 0 } = byResource.get(part.resource) ?? {}
    const first = byResource.get(part.resource) ?? part
    byResource.set(part.resource, { ...first, seen: seen + part.seen, expected: expected + part.expected })
  }
  return [...byResource.values()]
}

const words = ({ resource, seen, expected }: Shortfall): string =>
  `${resource} (saw ${formatNumber(seen)} of ${formatNumber(expected)})`

/** `timesheets (saw 450 of 650), users (saw 3 of 4) incomplete` */
export const incompleteWords = (shortfalls: readonly Shortfall[]): string =>
  `${added(shortfalls).map(words).join(', ')} incomplete`

/** Thrown once everything read is loaded. The other resources of the run continue. */
export class Incomplete extends MusterError {
  readonly shortfalls: readonly Shortfall[]

  constructor(first: Shortfall, ...others: readonly Shortfall[]) {
    const all = [first, ...others]
    const isOne = added(all).length === 1
    const more = others.length > 0 ? `; ${counted(others.length, 'other part')} likewise` : ''
    super({
      what: incompleteWords(all) + (isOne ? `: ${first.reason}${more}` : ''),
      next: isOne ? (first.next ?? runAgain) : lookFirst,
    })
    this.shortfalls = all
  }
}

/** Combines the shortfalls of several parts or resources in one error; undefined when there are none. */
export function joined(found: readonly Incomplete[]): Incomplete | undefined {
  const [first, ...others] = found.flatMap(({ shortfalls }) => shortfalls)
  return first && new Incomplete(first, ...others)
}

/** Waits until a part of a resource is read, and returns its shortfall, so that the other parts are read as well. */
export async function shortfallOf(reading: Promise<void>): Promise<Incomplete[]> {
  try {
    await reading
    return []
  } catch (error) {
    if (error instanceof Incomplete) return [error]
    throw error
  }
}

/** Throws Incomplete unless every part is complete. */
export function requireNone(found: readonly Incomplete[]): void {
  const all = joined(found)
  if (all) throw all
}

export const hiddenNote = (records: number): string =>
  `the service counts ${counted(records, 'record')} that it shows on no page`
