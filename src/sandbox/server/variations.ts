/** The options that change the form of answers: the same records as another reading of the contract would send them. */
import type { ShapeNode } from '../../contract/derived/json-shape.ts'
import { namedRng, type Rng } from '../../lib/rng.ts'
import type { Endpoint } from '../declare/endpoint.ts'
import type { ContractOptions } from '../options/contract-options.ts'
import type { StoredRecord } from '../records/record.ts'
import type { Settings } from './settings.ts'

interface Envelope {
  readonly data: unknown
  readonly meta?: object
}

interface Asked {
  readonly endpoint: Endpoint
  readonly query: unknown
}

type Vary = (record: StoredRecord, draw: Rng) => StoredRecord

/** The options are read at each request: they can change while the sandbox runs. */
export function variationOf({ options, seed }: Settings) {
  const envelopes = namedRng(seed, 'extra envelope')
  return (envelope: Envelope, asked: Asked): Envelope => {
    const { absent, extra: share, 'extra-in': where } = options
    if (absent === 'mixed' && share === 0) return envelope
    const isEverywhere = where === 'everywhere'
    const extra: Extra = {
      share,
      outside: isEverywhere || where === 'records',
      inside: isEverywhere || where === 'nested',
    }
    const vary: Vary = (record, draw) => {
      const filled = absent === 'mixed' ? record : withAbsence(record, asked, { absent, draw })
      return share > 0 && where !== 'envelope' ? withExtras(filled, extra, draw) : filled
    }
    const varied = { ...envelope, data: eachRecord(envelope.data, seed, vary) }
    return isEverywhere || where === 'envelope' ? grownEnvelope(varied, share, envelopes) : varied
  }
}

/** Records stand in `data` itself, in its `entries`, or are `data`. */
function eachRecord(data: unknown, seed: number, vary: Vary): unknown {
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

function grownEnvelope(envelope: Envelope, share: number, draw: Rng): Envelope {
  const meta = envelope.meta && grown(envelope.meta as StoredRecord, share, draw)
  return grown({ ...envelope, ...(meta && { meta }) }, share, draw) as unknown as Envelope
}

interface Drawing {
  readonly absent: ContractOptions['absent']
  readonly draw: Rng
}

/** The option `absent`: whether a null is left out, and whether a missing field becomes null. */
const omits = ({ absent, draw }: Drawing) => absent === 'omitted' || (absent === 'random' && draw() < 0.5)
const fills = ({ absent, draw }: Drawing) => absent === 'null' || (absent === 'random' && draw() < 0.5)

/** A copy in which nulls were left out and declared fields filled in, besides those that only a parameter brings. */
function withAbsence(
  record: StoredRecord,
  { endpoint: { returns, onRequest }, query }: Asked,
  drawing: Drawing,
): StoredRecord {
  // A caller that selected fields gets those and no others.
  const hasSelected = (query as StoredRecord | undefined)?.fields !== undefined
  return objectWith(record, hasSelected ? undefined : returns.shape, { ...drawing, skipped: onRequest ?? [] })
}

function valueWith(value: unknown, shape: ShapeNode | undefined, drawing: Drawing): unknown {
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
  drawing: Drawing & { readonly skipped: readonly string[] },
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

interface Extra {
  readonly share: number
  /** Whether the record itself may have one, and whether objects inside it may. */
  readonly outside: boolean
  readonly inside: boolean
}

/** A copy with extra fields; `draw` decides for each object in turn, so a record always has the same ones. */
function withExtras(record: StoredRecord, { share, inside, outside }: Extra, draw: Rng): StoredRecord {
  const inner = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    return Array.isArray(value) ? value.map(inner) : grown(copyOf(value), share, draw)
  }
  const copyOf = (value: object): StoredRecord =>
    Object.fromEntries(Object.entries(value).map(([name, item]) => [name, inner(item)]))
  const copy = inside ? copyOf(record) : { ...record }
  return outside ? grown(copy, share, draw) : copy
}

function grown(record: StoredRecord, share: number, draw: Rng): StoredRecord {
  if (draw() >= share) return record
  const [name, value] = extras[Math.floor(draw() * extras.length)] as (typeof extras)[number]
  return { ...record, [name]: value }
}
