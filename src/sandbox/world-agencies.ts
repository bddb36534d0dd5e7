/** Agencies of records passed in whole: named by the references to them when no list of them is given. */
import type { Records } from './world.ts'

interface Ref {
  readonly id: string
  readonly name: string
}

const naming = ['timesheets', 'expenses', 'invoices'] as const

export function withAgencies(records: Records | undefined): Records | undefined {
  if (!records || records.agencies) return records
  const agencies = new Map<string, Ref>()
  for (const name of naming) {
    for (const record of (records[name] ?? []) as { agency?: Ref }[]) {
      if (record.agency && !agencies.has(record.agency.id)) agencies.set(record.agency.id, record.agency)
    }
  }
  return { ...records, agencies: [...agencies.values()].map(({ id, name }) => ({ id, name })) }
}
