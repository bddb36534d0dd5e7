/** Makes ids, references and timestamps in the service's spelling. */

export interface Ref {
  readonly id: string
  readonly name: string
}

/** A reference to a record that has no name. */
export interface RecordLink {
  readonly id: string
  readonly reference: string
}

export function linkOf({ id, reference: text }: RecordLink): RecordLink {
  return { id, reference: text }
}

/** The record without fields that are undefined: the service leaves those out. */
export function defined<Fields extends object>(record: Fields): Fields {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as Fields
}

/** The id of the n-th part of a record (at most 256), in place of its last two digits. */
export function partId(recordId: string, index: number): string {
  return recordId.slice(0, 22) + index.toString(16).padStart(2, '0')
}

export function iso(ms: number): string {
  return new Date(ms).toISOString()
}

export function isoOf(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : iso(ms)
}

export function reference(prefix: string, number: number): string {
  return `${prefix}-${String(number).padStart(6, '0')}`
}

export function refOf(record: Ref): Ref {
  return { id: record.id, name: record.name }
}
