/** Applies the options that change the form of answers: the same records under another reading of the contract. */
import type { ShapeNode } from '../../contract/derived/json-shape.ts'
import { namedRng, type Rng } from '../../lib/rng.ts'
import type { Endpoint } from '../declare/endpoint.ts'
import type { ContractOptions } from '../options.ts'
import type { StoredRecord } from '../record.ts'
import type { SandboxSettings } from './settings.ts'

interface AnswerBody {
  readonly data: unknown
  readonly meta?: object
}

interface VariedRequest {
  readonly endpoint: Endpoint
  readonly query: unknown
}

type RecordVariation = (record: StoredRecord, draw: Rng) => StoredRecord

/** The options are read at each request: they can change while the sandbox runs. */
export function variationOf({ options, seed }: SandboxSettings) {
  const envelopes = namedRng(seed, 'extra envelope')
  return (envelope: AnswerBody, asked: VariedRequest): AnswerBody => {
    const { absent, extra: share, 'extra-in': where } = options
    if (absent === 'mixed' && share === 0) return envelope
    const isIn = (place: typeof where) => where === place || where === 'everywhere'
    const vary: RecordVariation = (record, draw) => {
      const filled = absent === 'mixed' ? record : withAbsence(record, asked, { absent, draw })
      if (share === 0) return filled
      // `draw` decides for each object in turn, so a record always has the same extra fields.
      const inside = isIn('nested') ? withInner(filled, object => grown(object, share, draw)) : filled
      return isIn('records') ? grown(inside, share, draw) : inside
    }
    const varied = { ...envelope, data: eachRecord(envelope.data, seed, vary) }
    return isIn('envelope') ? grownEnvelope(varied, share, envelopes) : varied
  }
}

/** Records are in `data`, in its `entries`, or `data` is the record. */
function eachRecord(data: unknown, seed: number, vary: RecordVariation): unknown {
  const varied = (row: unknown, index: number): unknown => {
    if (typeof row !== 'object' || row === null) return row
    const record = row as StoredRecord
    // Each record has a random stream of its own, so it looks the same at each request.
    return vary(record, namedRng(seed, `record ${record.id ?? record.reqRef ?? index}`))
  }
  if (Array.isArray(data)) return data.map(varied)
  if (typeof data !== 'object' || data === null) return data
  const { entries } = data as StoredRecord
  return Array.isArray(entries) ? { ...data, entries: entries.map(varied) } : varied(data, 0)
}

function grownEnvelope(envelope: AnswerBody, share: number, draw: Rng): AnswerBody {
  const meta = envelope.meta && grown(envelope.meta as StoredRecord, share, draw)
  return grown({ ...envelope, ...(meta && { meta }) }, share, draw) as unknown as AnswerBody
}

interface AbsenceDraw {
  readonly absent: ContractOptions['absent']
  readonly draw: Rng
}

/** The option `absent`: whether a null is left out, and whether a missing field becomes null. */
const omits = ({ absent, draw }: AbsenceDraw) => absent === 'omitted' || (absent === 'random' && draw() < 0.5)
const fills = ({ absent, draw }: AbsenceDraw) => absent === 'null' || (absent === 'random' && draw() < 0.5)

/** A copy that omits nulls and fills in missing declared fields, except fields that only a parameter adds. */
function withAbsence(
  record: StoredRecord,
  { endpoint: { returns, onRequest }, query }: VariedRequest,
  drawing: AbsenceDraw,
): StoredRecord {
  // A caller that selected fields gets those and no others.
  const hasSelected = (query as StoredRecord | undefined)?.fields !== undefined
  return objectWith(record, hasSelected ? undefined : returns.shape, { ...drawing, skipped: onRequest ?? [] })
}

function valueWith(value: unknown, shape: ShapeNode | undefined, drawing: AbsenceDraw): unknown {
  if (Array.isArray(value)) {
    const element = shape?.kind === 'list' ? shape.element : undefined
    return value.map(item => valueWith(item, element, drawing))
  }
  return typeof value === 'object' && value !== null
    ? objectWith(value as StoredRecord, shape, { ...drawing, skipped: [] })
    : value
}

function objectWith(
  record: StoredRecord,
  shape: ShapeNode | undefined,
  drawing: AbsenceDraw & { readonly skipped: readonly string[] },
): StoredRecord {
  const { skipped } = drawing
  const fields = shape?.kind === 'object' ? shape.fields : new Map<string, ShapeNode>()
  const result: StoredRecord = {}
  for (const [name, inner] of Object.entries(record)) {
    if (inner === null && omits(drawing)) continue
    if (inner !== undefined) result[name] = valueWith(inner, fields.get(name), drawing)
  }
  for (const name of fields.keys()) {
    const isMissing = record[name] === undefined
    if (isMissing && !skipped.includes(name) && fills(drawing)) result[name] = null
  }
  return result
}

/** The option `extra`: objects have fields that the contract does not name, as a growing service would send. */
const extras: readonly (readonly [string, unknown])[] = [
  ['extNote', 'Not in the contract.'],
  ['extScore', 12.5],
  ['extChecked', true],
  ['extLabels', ['first', 'second']],
  ['extOrigin', { system: 'import', batch: 7 }],
  ['extEmpty', null],
]

/** A copy in which every object inside is changed, the innermost first. */
function withInner(record: StoredRecord, change: (object: StoredRecord) => StoredRecord): StoredRecord {
  const inner = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    return Array.isArray(value) ? value.map(inner) : change(withInner(value as StoredRecord, change))
  }
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, inner(value)]))
}

function grown(record: StoredRecord, share: number, draw: Rng): StoredRecord {
  if (draw() >= share) return record
  const [name, value] = extras[Math.floor(draw() * extras.length)] as (typeof extras)[number]
  return { ...record, [name]: value }
}
