/** Agencies of records passed in whole: named by the references to them when no list of them is given. */
import type { Records } from './world.ts'

interface Ref {
  readonly id: string
  readonly name: string
}

export function withAgencies(records: Records | undefined): Records | undefined {
  if (!records || records.agencies) return records
  const agencies = new Map<string, Ref>()
  for (const { agency } of Object.values(records).flat() as { agency?: Partial<Ref> | null }[]) {
    const { id, name } = agency ?? {}
    if (id !== undefined && name !== undefined && !agencies.has(id)) agencies.set(id, { id, name })
  }
  return { ...records, agencies: [...agencies.values()] }
}
