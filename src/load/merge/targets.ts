/** Lists the tables that one resource writes, each with the stage that feeds it. */
import type { Table } from '../../contract/fields/table.ts'
import {
  constantsOf,
  isMember,
  lengthColumn,
  ownerColumn,
  piiColumns,
  rowColumns,
  starColumns,
} from '../../warehouse/schema/physical.ts'
import { asPlainWord } from '../../warehouse/schema/plain-word.ts'
import { qualified } from '../../warehouse/schema/structure.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import type { StagePlan, StageTable } from '../read/plan.ts'

export interface MergeTarget {
  readonly schema: 'star' | 'pii'
  readonly name: string
  /** SQL condition: row `t` belongs to some record of the resource, judging by all columns but its id. */
  readonly kind: string
  /** SQL condition: row `t` belongs to record `d` of the delta. */
  readonly ownedBy: string
  /** Target columns, each with the expression over stage `s` and delta `d` that fills it. */
  readonly columns: readonly (readonly [string, string])[]
  readonly stage: string
  /** Source of rows `s`, if not the stage itself. */
  readonly rows?: string
  /** SQL condition: the stage row has a row here. */
  readonly where?: string
}

const rowValues: Readonly<Record<string, string>> = {
  source_updated_at: 'd.source_updated_at',
  first_loaded_at: 'd.first_loaded_at',
  loaded_at: 'd.loaded_at',
  run_id: 'd.run_id',
  is_deleted: 'false',
  deleted_at: 'cast(null as timestamptz)',
  row_hash: 'd.row_hash',
  valid_from: 'd.valid_from',
}

const rowEntries = rowColumns.map(({ name }) => [name, rowValues[name] ?? 'null'] as const)

const staged = (name: string): readonly [string, string] => [name, `s.${quoteName(name)}`]

function owned(table: Table, root: Table): Pick<MergeTarget, 'kind' | 'ownedBy'> {
  const constants = constantsOf(table).map(([name, value]) => `t.${quoteName(name)} = ${quoteText(value)}`)
  const isOwned = `t.${quoteName(ownerColumn(table, root))} = d.record_key`
  return { kind: constants.join(' and ') || 'true', ownedBy: [isOwned, ...constants].join(' and ') }
}

/** For tables with rows of every resource. */
const ownedAs = (entity: string): Pick<MergeTarget, 'kind' | 'ownedBy'> => {
  const kind = `t.entity = ${quoteText(entity)}`
  return { kind, ownedBy: `${kind} and t.record_id = d.record_key` }
}

/** Columns whose stage value differs from the value in star. */
function valuesInStar({ columns }: Table): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(columns).flatMap(([name, { privacy, values }]): [string, string][] => {
      const value = `s.${quoteName(name)}`
      if (privacy === 'freeText') return [[lengthColumn(name), `length(${value})`]]
      return values ? [[name, asPlainWord(value, values)]] : []
    }),
  )
}

function starTarget({ name: stage, table }: StageTable, root: Table): MergeTarget {
  const values = valuesInStar(table)
  const columns = starColumns(table)
    .filter(({ name }) => name !== 'is_inferred')
    .map(({ name }): readonly [string, string] => {
      const value = values.get(name)
      return value ? [name, value] : staged(name)
    })
  const inferredFlag = isMember(table) ? [['is_inferred', 'false'] as const] : []
  return {
    schema: 'star',
    name: table.name,
    stage,
    ...owned(table, root),
    columns: [...columns, ...inferredFlag, ...rowEntries],
  }
}

function piiTarget({ name: stage, table }: StageTable, root: Table): MergeTarget[] {
  const restricted = piiColumns(table)
  if (restricted.length === 0) return []
  const keys = [...new Set([table.key, ownerColumn(table, root)])]
  const columns = [...keys, ...restricted.map(([name]) => name)].map(staged)
  const present = restricted.map(([name]) => `s.${quoteName(name)} is not null`).join(' or ')
  return [
    {
      schema: 'pii',
      name: table.piiTable,
      stage,
      kind: 'true',
      ownedBy: `t.${quoteName(ownerColumn(table, root))} = d.record_key`,
      columns: [...columns, ...rowEntries],
      where: `(${present})`,
    },
  ]
}

/** Selects a row for each text in any of the columns, in one statement. */
function textRows(name: string, table: Table, columns: readonly string[]): string {
  const texts = columns.map(column => `{c: ${quoteText(column)}, t: ${quoteName(column)}}`)
  // Most rows have no text: unnesting those as well takes twice as long.
  const any = columns.map(column => `${quoteName(column)} is not null`).join(' or ')
  return `(select locator, row_key, text.c as column_name, text.t as text from (
    select locator, ${quoteName(table.key)} as row_key, unnest([${texts.join(', ')}]) as text from ${name} where ${any}))`
}

function textTarget({ name: stage, table }: StageTable, entity: string): MergeTarget[] {
  const columns = Object.entries(table.columns).flatMap(([name, { privacy }]) =>
    privacy === 'freeText' ? [name] : [],
  )
  if (columns.length === 0) return []
  return [
    {
      schema: 'pii',
      name: 'text',
      stage,
      rows: textRows(stage, table, columns),
      ...ownedAs(entity),
      columns: [
        ['text_key', `md5(concat_ws('|', ${quoteText(table.name)}, s.row_key, s.column_name))`],
        ['entity', quoteText(entity)],
        ['record_id', 'd.record_key'],
        ['table_name', quoteText(table.name)],
        staged('row_key'),
        staged('column_name'),
        staged('text'),
        ...rowEntries,
      ],
      where: 's.text is not null',
    },
  ]
}

function leafTarget(schema: 'star' | 'pii', entity: string): MergeTarget {
  return {
    schema,
    name: 'attribute_leaf',
    stage: 'stage_leaf',
    ...ownedAs(entity),
    columns: [
      ['attribute_leaf_key', `md5(concat_ws('|', ${quoteText(entity)}, d.record_key, s.path))`],
      ['entity', quoteText(entity)],
      ['record_id', 'd.record_key'],
      staged('path'),
      staged('value_text'),
      staged('value_type'),
      ...rowEntries,
    ],
    where: schema === 'pii' ? 's.is_personal' : 'not s.is_personal',
  }
}

/** Star tables come first, then pii. */
export function targetsOf(plan: StagePlan): MergeTarget[] {
  const root = plan.root.table
  const { entity } = plan.resource
  return [
    ...plan.tables.map(stage => starTarget(stage, root)),
    ...plan.tables.flatMap(stage => piiTarget(stage, root)),
    ...plan.tables.flatMap(stage => textTarget(stage, entity)),
    leafTarget('star', entity),
    leafTarget('pii', entity),
  ]
}

/** Keeps each table once: several lists may feed it, but a record's rows are replaced only once. */
export function distinctOwners(targets: readonly MergeTarget[]): MergeTarget[] {
  return [...new Map(targets.map(target => [`${qualified(target)} ${target.ownedBy}`, target])).values()]
}
