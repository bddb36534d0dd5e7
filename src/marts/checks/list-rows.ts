/** Checks what belongs to a record: its own row exists, and each row of its lists exists once. */
import { catalogue } from '../../contract/catalogue.ts'
import { referenceDimensions } from '../../contract/dimensions.ts'
import type { Resource } from '../../contract/fields/resource.ts'
import type { ChildTable, Table } from '../../contract/fields/table.ts'
import { constantsOf, ownerColumn, piiColumns } from '../../warehouse/schema/physical.ts'
import { references } from '../../warehouse/schema/references.ts'
import { keyedTables } from '../../warehouse/schema/unique-key.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { byTable, type Check, type CheckPart, currentTables, part, quoted } from './check.ts'

/** Rows of a table that belong to records of one kind. */
interface OwnedTable {
  /** With its schema. */
  readonly table: string
  readonly key: string
  readonly owner: string
  /** Selects them among rows of other kinds in the same table; on the row `t`. */
  readonly condition: string
  /** The tables of their records. */
  readonly roots: readonly Table[]
}

const equal = (column: string, value: string): string => `t.${quoteName(column)} = ${quoteText(value)}`

/** Tables with rows of every resource; their column `entity` names its kind. */
const common = currentTables.filter(({ columns }) => columns.some(({ name }) => name === 'record_id'))

const ofResource = ({ entity, table: root }: Resource): OwnedTable[] =>
  common.map(({ schema, name, key, owner }) => ({
    ...{ table: `${schema}.${name}`, key, owner },
    condition: equal('entity', entity),
    roots: [root],
  }))

/** The owner of a list that one resource fills is a reference, which `references_resolve` checks. */
const isReference = (table: string, column: string): boolean =>
  references.some(one => one.table === table && one.column === column)

function ofRoot(root: Table): OwnedTable[] {
  return keyedTables(root).flatMap(({ table }) => {
    const owner = ownerColumn(table, root)
    const condition = constantsOf(table)
      .map(one => equal(...one))
      .join(' and ')
    const isList = table.name !== root.name && !isReference(table.name, owner)
    const list = { table: `star.${table.name}`, key: table.key, owner, condition, roots: [root] }
    const pii = { ...list, table: `pii.${table.piiTable}`, condition: '' }
    return [...(isList ? [list] : []), ...(piiColumns(table).length > 0 ? [pii] : [])]
  })
}

/** One entry per table that several resources fill with indistinguishable rows. */
function owned(): OwnedTable[] {
  const all = [
    ...[...referenceDimensions, ...catalogue.map(({ table }) => table)].flatMap(ofRoot),
    ...catalogue.flatMap(ofResource),
  ]
  const byKind = new Map<string, OwnedTable>()
  for (const one of all) {
    const kind = `${one.table} ${one.condition}`
    byKind.set(kind, { ...one, roots: [...(byKind.get(kind)?.roots ?? []), ...one.roots] })
  }
  return [...byKind.values()]
}

function withoutRecord({ table, key, owner, condition, roots }: OwnedTable): CheckPart {
  const distinct = [...new Set(roots)]
  const isMissing = distinct.map(
    root => `not exists (select 1 from star.${quoteName(root.name)} as r
      where r.${quoteName(root.key)} = t.${quoteName(owner)})`,
  )
  return part(
    table,
    `select t.${quoteName(key)} as record from ${quoted(table)} as t
     where ${[...(condition === '' ? [] : [condition]), ...isMissing].join(' and ')}`,
    distinct.map(({ name }) => `star.${name}`),
  )
}

interface List {
  readonly table: Table
  readonly owner: string
  readonly position: string
}

/** Undefined for a list inside a list, whose positions start again in each element. */
function positionOf({ lists, shape, table }: ChildTable): string | undefined {
  if (lists.length > 1 || shape === 'single' || shape === 'leaves') return undefined
  return Object.entries(table.columns).find(
    ([, { source }]) => source.from === 'ordinal' && source.depth === 0,
  )?.[0]
}

const lists: readonly List[] = catalogue.flatMap(({ table: root }) =>
  root.children.flatMap((child): List[] => {
    const position = positionOf(child)
    if (position === undefined) return []
    return [{ table: child.table, owner: ownerColumn(child.table, root), position }]
  }),
)

/** Records with more, or fewer, rows of a list than its greatest position. */
function miscounted({ table, owner, position }: List, sign: '<' | '>'): CheckPart {
  const of = constantsOf(table)
  const where = of.length === 0 ? '' : `where ${of.map(one => equal(...one)).join(' and ')}`
  return part(
    `star.${table.name}`,
    `select t.${quoteName(owner)} as record from star.${quoteName(table.name)} as t ${where}
     group by t.${quoteName(owner)} having count(*) ${sign} max(t.${quoteName(position)})`,
  )
}

/** Where keys consist of positions, `keys_unique` already checks this. */
const hasOwnIds = ({ table: { name } }: List): boolean =>
  currentTables.some(one => one.schema === 'star' && one.name === name && !one.isUnique)

export const listChecks: readonly Check[] = [
  {
    name: 'rows_have_record',
    severity: 'error',
    summary: 'Every row of a list, of pii and of attribute_leaf belongs to a record in star.',
    next: 'run muster sync, which replaces them if the record is read again; else rebuild with muster replay',
    parts: byTable(owned().map(withoutRecord)),
  },
  {
    name: 'list_rows_once',
    severity: 'error',
    summary: 'A record has no more rows of a list than the list has positions.',
    next: 'rebuild the table with muster replay; sums over the list count rows twice until then',
    parts: byTable(lists.filter(hasOwnIds).map(list => miscounted(list, '>'))),
  },
  {
    name: 'list_rows_missing',
    severity: 'warn',
    summary: 'A record has a row for every position of a list, up to the last one that is stored.',
    next: 'look the record up with muster get: if the list has no empty element there, rebuild with muster replay',
    parts: byTable(lists.map(list => miscounted(list, '<'))),
  },
]
