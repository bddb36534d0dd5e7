/** Answers as another reading of the contract would give them: the options that change what a record looks like. */
import { namedRng, type Rng } from '../../lib/rng.ts'
import type { StoredRecord } from '../records/record.ts'
import type { Settings } from '../server/settings.ts'
import { absences, declaredShape, withAbsence } from './absent-values.ts'
import { type Extra, grown, withExtras } from './extra-fields.ts'

interface Envelope {
  readonly data: unknown
  readonly meta?: object
}

interface Asked {
  /** As the endpoint declares it. */
  readonly path: string
  readonly query: unknown
}

type Variation = (envelope: Envelope, asked: Asked) => Envelope

/** Undefined when every option that matters here stands at its default. */
export function variationOf({ options, seed }: Settings): Variation | undefined {
  const { absent, extra: share, 'extra-in': where } = options
  if (absent === 'mixed' && share === 0) return undefined
  const isEverywhere = where === 'everywhere'
  const extra: Extra = {
    share,
    outside: isEverywhere || where === 'records',
    inside: isEverywhere || where === 'nested',
  }
  const envelopes = namedRng(seed, 'extra envelope')
  return (envelope, asked) => {
    const dress = (record: StoredRecord, draw: Rng): StoredRecord => {
      const filled = absent === 'mixed' ? record : withAbsences(record, { absent, asked, draw })
      return share > 0 && where !== 'envelope' ? withExtras(filled, extra, draw) : filled
    }
    const dressed = { ...envelope, data: eachRecord(envelope.data, { seed, dress }) }
    return isEverywhere || where === 'envelope' ? grownEnvelope(dressed, share, envelopes) : dressed
  }
}

function withAbsences(
  record: StoredRecord,
  at: { absent: keyof typeof absences; asked: Asked; draw: Rng },
): StoredRecord {
  const { absent, asked, draw } = at
  // Who selected fields gets those and no others.
  const hasSelected = (asked.query as StoredRecord | undefined)?.fields !== undefined
  const shape = hasSelected ? undefined : declaredShape(asked.path)
  return withAbsence(record, shape, { absence: absences[absent], draw }) as StoredRecord
}

interface Dressing {
  readonly seed: number
  readonly dress: (record: StoredRecord, draw: Rng) => StoredRecord
}

/** Records stand in `data` itself, in its `entries`, or are `data`. */
function eachRecord(data: unknown, dressing: Dressing): unknown {
  if (Array.isArray(data)) return data.map((row, index) => dressed(row, index, dressing))
  if (typeof data !== 'object' || data === null) return data
  const { entries } = data as StoredRecord
  if (Array.isArray(entries)) return { ...data, entries: eachRecord(entries, dressing) }
  return dressed(data, 0, dressing)
}

/** The stream is the record's own: asked for again, it looks the same. */
function dressed(row: unknown, index: number, { seed, dress }: Dressing): unknown {
  if (typeof row !== 'object' || row === null) return row
  const record = row as StoredRecord
  return dress(record, namedRng(seed, `record ${record.id ?? record.reqRef ?? index}`))
}

function grownEnvelope(envelope: Envelope, share: number, draw: Rng): Envelope {
  const meta = envelope.meta && grown(envelope.meta as StoredRecord, share, draw)
  return grown({ ...envelope, ...(meta && { meta }) }, share, draw) as unknown as Envelope
}
