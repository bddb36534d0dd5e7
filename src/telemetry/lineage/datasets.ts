/** Lists the datasets of a run with their columns, and the source columns of each, from the dictionary. */

import type { Dictionary } from '../../dictionary/entries.ts'
import { type ColumnEntry, qualifiedName, type TableEntry } from '../../dictionary/entries.ts'
import type { DatasetPlace } from './dataset-names.ts'

interface InputField {
  readonly namespace: string
  readonly name: string
  readonly field: string
}

export interface Dataset {
  readonly namespace: string
  readonly name: string
  readonly columns: readonly { readonly name: string; readonly type: string; readonly description: string }[]
  /** By column. */
  readonly from: Readonly<Record<string, readonly InputField[]>>
}

export interface Flow {
  readonly inputs: readonly Dataset[]
  readonly outputs: readonly Dataset[]
}

type Sources = (column: ColumnEntry) => InputField[]

function datasetOf({ namespace, nameOf }: DatasetPlace, table: TableEntry, sources: Sources): Dataset {
  const from = table.columns
    .map(column => [column.name, sources(column)] as const)
    .filter(([, fields]) => fields.length > 0)
  return {
    namespace,
    name: nameOf(qualifiedName(table)),
    columns: table.columns.map(({ name, type, description }) => ({ name, type, description })),
    from: Object.fromEntries(from),
  }
}

const bare = ({ namespace, nameOf }: DatasetPlace, name: string): Dataset => ({
  namespace,
  name: nameOf(name),
  columns: [],
  from: {},
})

/** What a sync reads and writes; the same for all runs of a version, whatever has changed. */
export function recordsFlow(
  { areas, tables }: Dictionary,
  { service, warehouse }: { readonly service: DatasetPlace; readonly warehouse: DatasetPlace },
): Flow {
  const ofEntity = new Map(areas.map(({ entity, resource }) => [entity, resource]))
  const sources: Sources = ({ fields }) =>
    fields.flatMap(path => {
      const [entity = '', ...field] = path.split('.')
      const name = ofEntity.get(entity)
      if (name === undefined) return []
      return [{ namespace: service.namespace, name: service.nameOf(name), field: field.join('.') }]
    })
  const written = tables.filter(one => one.kind === 'table' && /^(star|pii)$/.test(one.schema))
  return {
    inputs: areas.map(({ resource }) => bare(service, resource)),
    outputs: written.map(table => datasetOf(warehouse, table, sources)),
  }
}

/** What a build reads and writes. */
export function martsFlow({ tables }: Dictionary, warehouse: DatasetPlace): Flow {
  const sources: Sources = ({ from }) =>
    from.flatMap(path => {
      const [schema = '', table = '', field] = path.split('.')
      if (field === undefined) return []
      return [{ namespace: warehouse.namespace, name: warehouse.nameOf(`${schema}.${table}`), field }]
    })
  const built = tables.filter(one => one.kind === 'table' && one.schema === 'mart')
  const read = new Set(built.flatMap(({ reads }) => reads))
  return {
    inputs: tables
      .filter(table => read.has(qualifiedName(table)))
      .map(table => datasetOf(warehouse, table, () => [])),
    outputs: built.map(table => datasetOf(warehouse, table, sources)),
  }
}

/** Sources of a published copy: every table of star and mart, column by column. */
export function copyFlow(
  { tables }: Dictionary,
  { warehouse, copy }: { readonly warehouse: DatasetPlace; readonly copy: DatasetPlace },
): Flow {
  const copied = tables.filter(one => one.kind === 'table' && /^(star|mart)$/.test(one.schema))
  return {
    inputs: copied.map(table => datasetOf(warehouse, table, () => [])),
    outputs: copied.map(table => {
      const name = warehouse.nameOf(qualifiedName(table))
      return datasetOf(copy, table, column => [{ namespace: warehouse.namespace, name, field: column.name }])
    }),
  }
}
