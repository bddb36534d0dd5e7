/** Builds the dictionary of the warehouse that this version of the program creates. */

import { catalogue } from '../contract/catalogue.ts'
import { tablesOf } from '../contract/fields/table.ts'
import { programVersion } from '../lib/package.ts'
import { type Mart, stampColumns } from '../marts/mart.ts'
import { isPublished } from '../state/tables.ts'
import { ownerColumn } from '../warehouse/schema/physical.ts'
import { privacyOf, unitOf } from './column-facts.ts'
import {
  columnOrigins,
  declaredColumn,
  dimensionKeys,
  freeTextFields,
  isOfEveryRow,
  keys,
  nothing,
  type Origin,
  starTableOf,
  targetByName,
  targetOf,
} from './declared.ts'
import {
  type Area,
  type ColumnEntry,
  type Dictionary,
  qualifiedName,
  type ReferenceTarget,
  type TableEntry,
} from './entries.ts'
import {
  type ComputedTable,
  computedTables,
  type DefinedColumn,
  type DefinedTable,
  withStructure,
} from './structure.ts'

const areas: readonly Area[] = catalogue.map(({ name, entity, description, path, table }) => ({
  resource: name,
  entity,
  description,
  path,
  tables: [...new Set(tablesOf(table).map(one => `star.${one.name}`))],
  owners: new Map(
    tablesOf(table)
      .slice(1)
      .map(one => [`star.${one.name}`, ownerColumn(one, table)]),
  ),
}))

const origins = columnOrigins(dimensionKeys)

/** The origin of a column that is not computed from others. */
function baseOrigin({ schema, name }: DefinedTable, column: string): Origin {
  if (schema === 'ops' || isOfEveryRow(column)) return nothing
  if (schema === 'pii' && name.startsWith('text') && column === 'text') return { fields: freeTextFields }
  const star = starTableOf(schema, name)
  const declared = star === undefined ? undefined : origins.get(`${star}.${column}`)
  const measured = origins.get(`${star}.${column.replace(/_length$/, '')}`)
  return declared ?? (column.endsWith('_length') && measured ? { ...measured, made: 'derived' } : nothing)
}

/** Resources whose records become rows of the table, else those whose records refer to its members. */
function resourcesOf(table: string, columns: readonly ColumnEntry[]): string[] {
  const own = areas.filter(area => area.tables.includes(table))
  if (own.length > 0) return own.map(({ resource }) => resource)
  const entities = new Set(columns.flatMap(({ fields }) => fields.map(field => field.split('.')[0])))
  return areas.filter(({ entity }) => entities.has(entity)).map(({ resource }) => resource)
}

const stamps = new Set(stampColumns.map(({ name }) => name))

function isTechnical({ schema, kind }: DefinedTable, column: string): boolean {
  if (schema === 'mart') return stamps.has(column)
  return schema !== 'ops' && kind === 'table' && isOfEveryRow(column)
}

const answerOf = (mart: Mart | undefined): Pick<TableEntry, 'question' | 'assumption'> =>
  mart === undefined
    ? {}
    : { question: mart.question, ...(mart.assumption !== undefined && { assumption: mart.assumption }) }

class Builder {
  readonly #tables = new Map<string, TableEntry>()
  readonly #columns = new Map<string, ColumnEntry>()

  add(table: DefinedTable, computed?: ComputedTable): void {
    const from = (index: number): readonly string[] => computed?.from[index] ?? []
    const columns = table.columns.map((column, index) => this.#column(table, column, from(index)))
    const name = qualifiedName(table)
    for (const column of columns) this.#columns.set(`${name}.${column.name}`, column)
    const entry: TableEntry = {
      schema: table.schema,
      name: table.name,
      kind: table.kind,
      description: table.description,
      columns,
      reads: computed?.reads ?? [],
      resources:
        table.schema === 'ops' ? [] : resourcesOf(`star.${starTableOf(table.schema, table.name)}`, columns),
      isPublished: isPublished(table.schema, table.name),
      ...answerOf(computed?.mart),
    }
    this.#tables.set(name, entry)
  }

  get tables(): readonly TableEntry[] {
    return [...this.#tables.values()]
  }

  #column(table: DefinedTable, column: DefinedColumn, from: readonly string[]): ColumnEntry {
    const { schema, name, columns } = table
    const star = starTableOf(schema, name)
    const declared = star === undefined ? undefined : declaredColumn(star, column.name)
    const sources = from.flatMap(one => this.#columns.get(one) ?? [])
    const origin =
      from.length > 0
        ? { fields: [...new Set(sources.flatMap(({ fields }) => fields))] }
        : baseOrigin(table, column.name)
    const unit = unitOf({
      ...column,
      ...(declared && { kind: declared.type }),
      inherited: sources.map(source => source.unit),
    })
    const target = this.#target(table, column.name)
    return {
      name: column.name,
      type: column.type,
      description: column.description,
      ...(unit !== undefined && { unit }),
      isKey: column.isKey || keys.get(qualifiedName(table)) === column.name,
      ...(target && { refersTo: target }),
      privacy: privacyOf({
        schema,
        table: name,
        column: column.name,
        isPublished: isPublished(schema, name),
        siblings: columns.map(one => one.name),
        inherited: sources.map(source => source.privacy),
      }),
      ...origin,
      from,
      values: declared?.values ?? [],
      isOfEveryRow: isTechnical(table, column.name),
    }
  }

  #target({ schema, name, kind }: DefinedTable, column: string): ReferenceTarget | undefined {
    if (schema === 'ops') return undefined
    if (schema === 'mart' || kind === 'view') return targetByName(column)
    const star = starTableOf(schema, name)
    if (star === undefined) return undefined
    const isPiiKey = schema === 'pii' && keys.get(`star.${star}`) === column
    if (isPiiKey) return { table: `star.${star}`, column }
    // The company of a request is a company too, although no field of the record names it.
    return (
      targetOf(star, column) ??
      (keys.get(qualifiedName({ schema, name })) === column ? undefined : targetByName(column))
    )
  }
}

/** From the declarations alone: no warehouse is opened. Marts are in the order in which they are built. */
export async function buildDictionary(marts: readonly Mart[]): Promise<Dictionary> {
  return withStructure(async (stored, engine) => {
    const builder = new Builder()
    const computed = await computedTables(engine, stored, marts)
    const isComputed = new Set(computed.map(({ table }) => qualifiedName(table)))
    for (const table of stored.filter(one => !isComputed.has(qualifiedName(one)))) builder.add(table)
    for (const one of computed) builder.add(one.table, one)
    return { version: programVersion, areas, tables: builder.tables }
  })
}
