/** The options that change the form of answers: the same records as another reading of the contract would send them. */
import { namedRng, type Rng } from '../../lib/rng.ts'
import type { Endpoint } from '../declare/endpoint.ts'
import type { StoredRecord } from '../records/record.ts'
import type { Settings } from '../server/settings.ts'
import { absences, withAbsence } from './absent-values.ts'
import { type Extra, grown, withExtras } from './extra-fields.ts'

interface Envelope {
  readonly data: unknown
  readonly meta?: object
}

interface Asked {
  readonly endpoint: Endpoint
  readonly query: unknown
}

type Vary = (record: StoredRecord, draw: Rng) => StoredRecord

/** Undefined when every option that matters here stands at its default. */
export function variationOf({ options, seed }: Settings) {
  const { absent, extra: share, 'extra-in': where } = options
  if (absent === 'mixed' && share === 0) return undefined
  const isEverywhere = where === 'everywhere'
  const extra: Extra = {
    share,
    outside: isEverywhere || where === 'records',
    inside: isEverywhere || where === 'nested',
  }
  const envelopes = namedRng(seed, 'extra envelope')
  return (envelope: Envelope, asked: Asked): Envelope => {
    const vary: Vary = (record, draw) => {
      const filled =
        absent === 'mixed' ? record : withAbsence(record, asked, { absence: absences[absent], draw })
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
