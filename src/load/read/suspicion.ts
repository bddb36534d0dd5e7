/** Which rows of a stage are looked at closely, because something present may have been lost on the way. */

import type { ObjectShape, ShapeNode } from '../../contract/derived/json-shape.ts'
import type { Column } from '../../contract/fields/column.ts'
import type { Table } from '../../contract/fields/table.ts'
import { storedTypes } from '../../warehouse/schema/column-type.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { below } from './plan.ts'
import type { Reader } from './reader.ts'
import { isReadAsNumber, structType } from './struct-type.ts'

interface Field {
  readonly name: string
  readonly column: Column
  readonly text: string
}

function fieldsOf(table: Table, element: string): Field[] {
  return Object.entries(table.columns).flatMap(([name, column]) =>
    column.source.from === 'field' ? [{ name, column, text: below(element, column.source.path) }] : [],
  )
}

/** All numbers as they were read, as one list: judged together, they cost a third of what a condition for each costs. */
export function numbersRead(table: Table, element: string, numbers: Reader['numbers']): string {
  const read = fieldsOf(table, element)
    .filter(({ column }) => isReadAsNumber(column.type, { numbers }))
    .map(({ text }) => text)
  return `cast([${read.join(', ')}] as ${numbers}[])`
}

/** Over the typed columns: as doubles, what was read and what is kept must be equal, and as many must be present. */
export function numbersDiffer(table: Table, read: string, numbers: Reader['numbers']): string {
  const values = fieldsOf(table, '')
    .filter(({ column }) => isReadAsNumber(column.type, { numbers }))
    .map(({ name }) => `cast(${quoteName(name)} as double)`)
  if (values.length === 0) return 'false'
  const kept = `[${values.join(', ')}]`
  if (numbers === 'DOUBLE') return `${read} is distinct from ${kept}`
  return `list_count(${read}) <> list_count(${kept}) or try_cast(${read} as double[]) is distinct from ${kept}`
}

/** Other present texts that did not survive their cast, and required ones that are absent. */
export function leavesDiffer(table: Table, element: string, numbers: Reader['numbers']): string[] {
  return fieldsOf(table, element).flatMap(({ column, text }) => {
    const stored = storedTypes[column.type]
    const missing = column.required ? [`${text} is null`] : []
    if (!stored.intact || isReadAsNumber(column.type, { numbers })) return missing
    return [...missing, `(${text} is not null and (${stored.intact(text, stored.cast(text))}) is not true)`]
  })
}

const json = { kind: 'json', numbers: 'VARCHAR' } as const

/** What the cast makes of something that is no object: a struct whose fields are all NULL. */
function nothingIn(node: ObjectShape): string {
  return `{${[...node.fields].map(([key, next]) => `${quoteText(key)}: cast(null as ${structType(next, json)})`).join(', ')}}`
}

/** An object that is there but holds nothing we know may be something else than an object. */
export function objectsEmpty(node: ShapeNode, at: string): string[] {
  if (node.kind !== 'object') return []
  return [...node.fields].flatMap(([key, next]) => {
    const path = below(at, [key])
    if (next.kind !== 'object' || next.fields.size === 0) return []
    return [`(${path} is not distinct from ${nothingIn(next)})`, ...objectsEmpty(next, path)]
  })
}
