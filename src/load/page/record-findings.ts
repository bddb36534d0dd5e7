/** What one record of a page is found to be: to blame for something, or with more in it than its columns hold. */
import { isUtf8 } from 'node:buffer'
import { judge } from './judge.ts'
import { contradiction, type RecordSlice, type UndeclaredField } from './page-fields.ts'
import type { RecordLimits, SeenPaths } from './record-limits.ts'
import {
  driftOf,
  type Leaf,
  pathOf,
  reportedPath,
  type Undeclared,
  undeclaredLeaves,
} from './undeclared-leaves.ts'
import { whyUnstorable } from './unstorable.ts'

/** Why a record cannot be loaded. */
export interface Fault {
  /** Empty for the record as a whole. */
  readonly path: string
  /** The value there. */
  readonly text: string | null
  readonly reason: string
}

/** A difference from what the service documents, for the report. */
export interface Drift extends Undeclared {
  readonly kind: 'unknown field' | 'rounded' | 'other form'
}

export interface Findings {
  /** Why it cannot be loaded. */
  readonly faults: readonly Fault[]
  /** What of it has no column; empty where there are faults. */
  readonly leaves: readonly Leaf[]
  readonly drift: readonly Drift[]
}

/** What is known of the page before its records are looked at. */
export interface PageState {
  readonly bytes: Buffer
  /** Whether its bytes are no UTF-8 somewhere. */
  readonly isOdd: boolean
  /** Whether it has escapes that no engine stores. */
  readonly hasEscapes: boolean
}

/** A record that is wrong everywhere would fill the quarantine. */
const mostFaults = 20
const longestText = 1000

const nothing: Findings = { faults: [], leaves: [], drift: [] }

const whole = (reason: string): Findings => ({ ...nothing, faults: [{ path: '', text: null, reason }] })

/** The JSON of a record without its undeclared fields, which are kept as JSON where they have to be. */
function declaredText(bytes: Buffer, { start, end, undeclared }: RecordSlice): string {
  const edges = [start, ...undeclared.flatMap((field: UndeclaredField) => [field.key, field.end]), end]
  const parts = edges.flatMap((from, index) =>
    index % 2 === 0 ? [bytes.toString('utf8', from, edges[index + 1])] : [],
  )
  return parts.join(' ')
}

function tooLarge(record: RecordSlice, limits: RecordLimits): string | undefined {
  const { start, end, depth, undeclared, unusual } = record
  if (end - start > limits.bytes) return `larger than ${limits.bytes} bytes`
  if (depth > limits.depth) return `nested deeper than ${limits.depth} levels`
  if (undeclared.length > limits.fields) return `more than ${limits.fields} undeclared fields`
  return unusual.length > limits.fields ? `more than ${limits.fields} values in another form` : undefined
}

function unreadable({ bytes, isOdd, hasEscapes }: PageState, record: RecordSlice): string | undefined {
  if (isOdd && !isUtf8(bytes.subarray(record.start, record.end))) return 'bytes that are not UTF-8'
  const key = record.repeated.length > 0 ? contradiction(bytes, record) : undefined
  if (key !== undefined) return `${JSON.stringify(key)} has several values in one object`
  return hasEscapes ? whyUnstorable(declaredText(bytes, record)) : undefined
}

/** A text without its quotes, or JSON as it came. */
function shown(json: string, text: string | undefined): string {
  return (text ?? json).slice(0, longestText)
}

/** Judges every declared value that is not written plainly. */
function judged(bytes: Buffer, { unusual }: RecordSlice): Findings {
  const faults: Fault[] = []
  const leaves: Leaf[] = []
  const drift: Drift[] = []
  for (const { start, end, at, form } of unusual) {
    const json = bytes.toString('utf8', start, end)
    const { text, reason, isRounded, otherForm } = judge(json, form)
    if (reason) faults.push({ path: pathOf(at), text: shown(json, text), reason })
    if (faults.length >= mostFaults) break
    if (isRounded) {
      leaves.push({
        path: pathOf(at),
        text: text ?? json,
        type: form.kind === 'timestamp' ? 'text' : 'number',
      })
      drift.push({ path: reportedPath(at), kind: 'rounded', type: form.kind })
    }
    if (otherForm) drift.push({ path: reportedPath(at), kind: 'other form', type: otherForm })
  }
  return faults.length > 0 ? { ...nothing, faults } : { faults, leaves, drift }
}

export interface Bounds {
  readonly limits: RecordLimits
  readonly seen: SeenPaths
}

function withUndeclared(
  found: Findings,
  { bytes, undeclared }: { readonly bytes: Buffer; readonly undeclared: readonly UndeclaredField[] },
  { limits, seen }: Bounds,
): Findings {
  const leaves = undeclaredLeaves(bytes, undeclared)
  if (leaves.length > limits.fields) return whole(`more than ${limits.fields} leaves in undeclared fields`)
  const fields = undeclared.flatMap((field): Drift[] => {
    const drift = driftOf(bytes, field)
    return drift ? [{ ...drift, kind: 'unknown field' }] : []
  })
  if (!seen.admit(fields.map(({ path }) => path)))
    return whole(`more than ${limits.paths} undeclared paths in all records`)
  return { faults: [], leaves: [...leaves, ...found.leaves], drift: [...fields, ...found.drift] }
}

/** Most records are plain, and nothing is found. */
export function findingsOf(page: PageState, record: RecordSlice, bounds: Bounds): Findings {
  const reason = tooLarge(record, bounds.limits) ?? unreadable(page, record)
  if (reason) return whole(reason)
  const { undeclared, unusual } = record
  const found = unusual.length > 0 ? judged(page.bytes, record) : nothing
  if (found.faults.length > 0 || undeclared.length === 0) return found
  return withUndeclared(found, { bytes: page.bytes, undeclared }, bounds)
}
