/** Lists inside a record as its stage carries them: JSON text, read by the stage of the list itself. */
import type { Child } from '../../resources/table.ts'
import { below } from './plan.ts'

/** JSON text of the list, NULL when absent; an object that stands alone is a list of one. */
export function rawList(child: Child, element: string): string {
  const at = below(element, child.lists[0] ?? [])
  if (child.shape === 'single') return `case when ${at} is null then null else [${at}] end`
  return `nullif(cast(${at} as varchar), 'null')`
}

/** The condition that something stands where a list should be. */
export function noList(child: Child, element: string): string[] {
  if (child.shape === 'single' || child.shape === 'leaves') return []
  return [`coalesce(${rawList(child, element)} not like '[%', false)`]
}

/** The condition that the column of a raw list has elements. */
export function hasElements({ shape }: Child, column: string): string {
  if (shape === 'leaves' || shape === 'single') return `${column} is not null`
  return `${column} <> '[]'`
}
