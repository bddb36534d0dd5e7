/** Validates a record: faults that quarantine it, and undeclared fields. */
import { isUtf8 } from 'node:buffer'
import { judge } from './judge.ts'
import {
  contradiction,
  type RecordSlice,
  repetitions,
  type UndeclaredField,
  type UnusualValue,
} from './page-fields.ts'
import type { RecordLimits, SeenPaths } from './record-limits.ts'
import { type Edit, standIn } from './stand-ins.ts'
import {
  driftOf,
  pathOf,
  reportedPath,
  type UndeclaredLeaf,
  type UndeclaredPath,
  undeclaredLeaves,
} from './undeclared-leaves.ts'
import { whyUnstorable } from './unstorable.ts'

/** A reason why a record cannot be loaded. */
export interface Fault {
  /** Empty when the whole record is at fault. */
  readonly path: string
  readonly text: string | null
  readonly reason: string
}

/** A difference from the service's documentation, for the report. */
export interface Drift extends UndeclaredPath {
  readonly kind: 'unknown field' | 'rounded' | 'other form'
}

export interface RecordFindings {
  readonly faults: readonly Fault[]
  /** Leaves without a column; empty if there are faults. */
  readonly leaves: readonly UndeclaredLeaf[]
  readonly drift: readonly Drift[]
  /** Edits without which DuckDB could not read the page into the declared type. */
  readonly edits: readonly Edit[]
  /** See ValueJudgement.isLong. */
  readonly hasLong: boolean
}

/** What is known about the page before its records are validated. */
export interface PageState {
  readonly bytes: Buffer
  /** Whether any of its bytes are not UTF-8. */
  readonly isOdd: boolean
  /** Whether it has escapes that no engine stores. */
  readonly hasEscapes: boolean
}

/** Otherwise a record that is wrong everywhere would fill the quarantine. */
const maxFaults = 20
const longestText = 1000

const nothing: RecordFindings = { faults: [], leaves: [], drift: [], edits: [], hasLong: false }

const recordFault = (reason: string, { edits }: Pick<RecordFindings, 'edits'>): RecordFindings => ({
  ...nothing,
  faults: [{ path: '', text: null, reason }],
  edits,
})

/** A record with too many faults to find them all: none of it is read. */
function unread(bytes: Buffer, { start, end }: RecordSlice, reason: string): RecordFindings {
  return recordFault(reason, { edits: [{ start, end, text: standIn(bytes.toString('utf8', start, end)) }] })
}

/** The JSON of a record without its undeclared fields, which may be stored as JSON. */
function declaredText(bytes: Buffer, { start, end, undeclared }: RecordSlice): string {
  const edges = [start, ...undeclared.flatMap((field: UndeclaredField) => [field.key, field.end]), end]
  const parts = edges.flatMap((from, index) =>
    index % 2 === 0 ? [bytes.toString('utf8', from, edges[index + 1])] : [],
  )
  return parts.join(' ')
}

function tooLarge(record: RecordSlice, limits: RecordLimits): string | undefined {
  const { start, end, depth, undeclared } = record
  if (end - start > limits.bytes) return `larger than ${limits.bytes} bytes`
  if (depth > limits.depth) return `nested deeper than ${limits.depth} levels`
  return undeclared.length > limits.fields ? `more than ${limits.fields} undeclared fields` : undefined
}

/** Why the record has more oddities than the search looks for. */
function tooOdd({ unusual, repeated }: RecordSlice, { fields }: RecordLimits): string | undefined {
  if (unusual.length > fields) return `more than ${fields} values in another form`
  return repeated.length > fields ? `more than ${fields} repeated keys` : undefined
}

function unreadable({ bytes, isOdd, hasEscapes }: PageState, record: RecordSlice): string | undefined {
  if (isOdd && !isUtf8(bytes.subarray(record.start, record.end))) return 'bytes that are not UTF-8'
  const key = record.repeated.length > 0 ? contradiction(bytes, record) : undefined
  if (key !== undefined) return `${JSON.stringify(key)} has several values in one object`
  return hasEscapes ? whyUnstorable(declaredText(bytes, record)) : undefined
}

/** The decoded string, or the JSON as received. */
function shown(json: string, text: string | undefined): string {
  return (text ?? json).slice(0, longestText)
}

/** Kinds that are read as text, whatever the value. */
const texts: ReadonlySet<string> = new Set(['id', 'text', 'url'])

/** Edits that let DuckDB read the record into its declared type. `refused` are values not of their form. */
function editsOf(bytes: Buffer, record: RecordSlice, refused: readonly UnusualValue[]): Edit[] {
  const { start, end, missing } = record
  const isNoRecord = missing !== undefined || refused.some(({ at }) => at.length === 0)
  if (isNoRecord) return [{ start, end, text: standIn(bytes.toString('utf8', start, end)) }]
  return [
    ...repetitions(bytes, record).map(slice => ({ ...slice, text: '' })),
    ...refused.filter(({ form }) => !texts.has(form.kind)).map(value => ({ ...value, text: 'null' })),
  ]
}

/** Judges every declared value that is not in its plain form. */
function judged(bytes: Buffer, record: RecordSlice): RecordFindings {
  const { unusual, missing } = record
  const faults: Fault[] = missing === undefined ? [] : [{ path: missing, text: null, reason: 'missing' }]
  const refused: UnusualValue[] = []
  const leaves: UndeclaredLeaf[] = []
  const drift: Drift[] = []
  let hasLong = false
  for (const value of unusual) {
    const { start, end, at, form } = value
    const json = bytes.toString('utf8', start, end)
    const { text, reason, isRounded, isLong, otherForm } = judge(json, form)
    hasLong ||= isLong === true
    if (reason) {
      refused.push(value)
      faults.push({ path: pathOf(at), text: shown(json, text), reason })
    }
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
  const edits = editsOf(bytes, record, refused)
  if (faults.length > 0) return { ...nothing, faults: faults.slice(0, maxFaults), edits }
  return { faults, leaves, drift, edits, hasLong }
}

export interface SearchBounds {
  readonly limits: RecordLimits
  readonly seen: SeenPaths
}

function withUndeclared(
  found: RecordFindings,
  { bytes, undeclared }: { readonly bytes: Buffer; readonly undeclared: readonly UndeclaredField[] },
  { limits, seen }: SearchBounds,
): RecordFindings {
  const leaves = undeclaredLeaves(bytes, undeclared)
  if (leaves.length > limits.fields)
    return recordFault(`more than ${limits.fields} leaves in undeclared fields`, found)
  const fields = undeclared.flatMap((field): Drift[] => {
    const drift = driftOf(bytes, field)
    return drift ? [{ ...drift, kind: 'unknown field' }] : []
  })
  if (!seen.admit(fields.map(({ path }) => path)))
    return recordFault(`more than ${limits.paths} undeclared paths in all records`, found)
  return { ...found, leaves: [...leaves, ...found.leaves], drift: [...fields, ...found.drift] }
}

const isPlain = ({ unusual, repeated, missing }: RecordSlice): boolean =>
  unusual.length === 0 && repeated.length === 0 && missing === undefined

/** Most records are plain and have no findings. */
export function findingsOf(page: PageState, record: RecordSlice, bounds: SearchBounds): RecordFindings {
  const oddity = tooOdd(record, bounds.limits)
  if (oddity !== undefined) return unread(page.bytes, record, oddity)
  const found = isPlain(record) ? nothing : judged(page.bytes, record)
  const reason = tooLarge(record, bounds.limits) ?? unreadable(page, record)
  if (reason) return recordFault(reason, found)
  const { undeclared } = record
  if (found.faults.length > 0 || undeclared.length === 0) return found
  return withUndeclared(found, { bytes: page.bytes, undeclared }, bounds)
}
