/** Field selection: `fields=id,worker.name,projects.id` keeps those paths and nothing else. */
import type { StoredRecord } from './record.ts'

/** A missing branch means the whole value below that name. */
interface Selection extends Map<string, Selection | undefined> {}

/** Names a record does not have select nothing: the contract names no error for them. */
export function selectFields(record: StoredRecord, paths: readonly string[]): StoredRecord {
  return pick(record, selectionOf(paths)) as StoredRecord
}

function selectionOf(paths: readonly string[]): Selection {
  const root: Selection = new Map()
  for (const path of paths) {
    const steps = path.split('.')
    let branch: Selection = root
    for (const [index, step] of steps.entries()) {
      if (branch.has(step) && branch.get(step) === undefined) break
      if (index === steps.length - 1) branch.set(step, undefined)
      else branch = childOf(branch, step)
    }
  }
  return root
}

function childOf(branch: Selection, step: string): Selection {
  const child = branch.get(step) ?? new Map()
  branch.set(step, child)
  return child
}

function pick(value: unknown, selection: Selection): unknown {
  if (Array.isArray(value)) return value.map(item => pick(item, selection))
  if (typeof value !== 'object' || value === null) return value
  const picked: StoredRecord = {}
  for (const name of Object.keys(value)) {
    if (!selection.has(name)) continue
    const below = selection.get(name)
    const inner = (value as StoredRecord)[name]
    picked[name] = below ? pick(inner, below) : inner
  }
  return picked
}

/** A copy without some fields, which are not even read: a timesheet builds its timelogs only when asked. */
export function withoutFields(record: StoredRecord, names: readonly string[]): StoredRecord {
  if (names.length === 0) return record
  const copy: StoredRecord = {}
  for (const name of Object.keys(record)) if (!names.includes(name)) copy[name] = record[name]
  return copy
}
