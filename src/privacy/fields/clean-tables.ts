/** Cleans the tables of a warehouse by a field policy: what was stored before follows it as well. */
import { catalogue } from '../../contract/catalogue.ts'
import type { Column } from '../../contract/fields/column.ts'
import type { Table } from '../../contract/fields/table.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { isMember, lengthColumn } from '../../warehouse/schema/physical.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { leafTables } from '../ids-in-records.ts'
import { stepsOf } from '../leaf-documents.ts'
import { gatedValue } from './gate.ts'
import type { FieldPolicy } from './policy.ts'
import { type RowsOf, type TreatedColumn, type TreatedDocument, treatedIn } from './treated-columns.ts'

export type RowCounts = Map<string, number>

/** Values in one statement. */
const valuesAtOnce = 500

/** A path of a leaf without positions in lists. */
const plainPath = (path: string): string =>
  stepsOf(path)
    .filter(step => typeof step === 'string')
    .join('.')

interface Cell {
  /** Qualified. */
  readonly table: string
  readonly column: string
  readonly where: string
}

/** Both tables of star, and those of pii, each current and historical. */
const starTables = ({ name }: Table): string[] =>
  ['star', 'history'].map(schema => `${schema}.${quoteName(name)}`)
const piiTables = ({ piiTable }: Table): string[] =>
  [piiTable, `${piiTable}_history`].map(name => `pii.${quoteName(name)}`)

/** Where a column is stored. */
const tablesOf = (table: Table, { privacy }: Column): string[] =>
  privacy === 'open' ? starTables(table) : piiTables(table)

/** SQL condition for the rows in star and history. */
function starRows({ constants, isInferred }: RowsOf, table: Table): string {
  const parts = constants.map(([name, value]) => `${quoteName(name)} = ${quoteText(value)}`)
  if (isInferred && isMember(table)) parts.push('is_inferred')
  return parts.join(' and ') || 'true'
}

/** The same in pii, whose rows have the keys of star. */
function piiRows(rows: RowsOf, table: Table, key = quoteName(table.key)): string {
  const condition = starRows(rows, table)
  if (condition === 'true') return 'true'
  const keys = starTables(table).map(at => `select ${quoteName(table.key)} from ${at} where ${condition}`)
  return `${key} in (${keys.join(' union all ')})`
}

const textTables = ['pii.text', 'pii.text_history']

/** Rows of free text in one column. */
const textRows = (table: Table, name: string, rows: RowsOf): string =>
  `table_name = ${quoteText(table.name)} and column_name = ${quoteText(name)} and ${piiRows(rows, table, 'row_key')}`

export class TableCleaning {
  readonly counts: RowCounts = new Map()
  /** All tables in which a treated value may have been. */
  readonly tables = new Set<string>()
  readonly #engine: Engine
  readonly #policy: FieldPolicy

  constructor(engine: Engine, policy: FieldPolicy) {
    this.#engine = engine
    this.#policy = policy
  }

  async run(): Promise<void> {
    const { columns, documents, leaves, lists } = treatedIn(this.#policy)
    for (const { table, rows } of lists) await this.#rowsOfList(table, rows)
    for (const one of columns) await this.#column(one)
    for (const one of documents) await this.#jsonIn(one)
    for (const { table, resource, at } of leaves) await this.#document(table, resource, at)
    for (const at of leafTables) await this.#leaves(at)
  }

  async #jsonIn({ table, name, column, rows, resource, path }: TreatedDocument): Promise<void> {
    const cells =
      column.privacy === 'freeText'
        ? textTables.map(at => ({ table: at, column: 'text', where: textRows(table, name, rows) }))
        : tablesOf(table, column).map(at => ({ table: at, column: name, where: this.#rows(at, table, rows) }))
    for (const cell of cells)
      await this.values(cell, text =>
        /^\s*[[{]/.test(text) ? (gatedValue(this.#policy, text, { resource, path }) ?? text) : text,
      )
  }

  #rows(at: string, table: Table, rows: RowsOf): string {
    return at.startsWith('pii.') ? piiRows(rows, table) : starRows(rows, table)
  }

  async change(table: string, sql: string): Promise<void> {
    this.tables.add(table)
    const rows = await this.#engine.run(sql)
    const name = table.replaceAll('"', '')
    if (rows > 0) this.counts.set(name, (this.counts.get(name) ?? 0) + rows)
  }

  /** Replaces each distinct text of a column that changes. */
  async values({ table, column, where }: Cell, changed: (text: string) => string | null): Promise<void> {
    this.tables.add(table)
    const name = quoteName(column)
    const rows = await this.#engine.rows<{ text: string }>(
      `select distinct ${name} as text from ${table} where ${name} is not null and (${where})`,
    )
    const changes = rows.flatMap(({ text }) => {
      const rest = changed(text)
      return rest === text ? [] : [`(${quoteText(text)}, ${rest === null ? 'null' : quoteText(rest)})`]
    })
    for (let from = 0; from < changes.length; from += valuesAtOnce)
      await this.change(
        table,
        `update ${table} set ${name} = m.rest from (values ${changes.slice(from, from + valuesAtOnce).join(', ')}) as m(old_text, rest)
         where ${name} = m.old_text and (${where})`,
      )
  }

  async #rowsOfList(table: Table, rows: RowsOf): Promise<void> {
    const key = quoteName(table.key)
    const isPersonal = Object.values(table.columns).some(
      ({ privacy }) => privacy === 'personal' || privacy === 'restricted',
    )
    for (const at of textTables)
      await this.change(
        at,
        `delete from ${at} where table_name = ${quoteText(table.name)} and ${piiRows(rows, table, 'row_key')}`,
      )
    for (const at of isPersonal ? piiTables(table) : [])
      await this.change(at, `delete from ${at} where ${piiRows(rows, table, key)}`)
    for (const at of starTables(table))
      await this.change(at, `delete from ${at} where ${starRows(rows, table)}`)
  }

  async #column(treated: TreatedColumn): Promise<void> {
    const { table, name, column, treatment, rows } = treated
    if (column.privacy === 'freeText') return this.#freeText(treated)
    for (const at of tablesOf(table, column)) {
      const where = this.#rows(at, table, rows)
      if (treatment === 'hash')
        await this.values({ table: at, column: name, where }, text => this.#policy.hash(text))
      else await this.#empty({ table: at, column: name, where }, column)
    }
  }

  /** What tells whether there is a value says that there is none. */
  async #empty({ table, column, where }: Cell, { source }: Column): Promise<void> {
    const isFlag = source.from === 'derived' && source.sql.includes(' is not null')
    const name = quoteName(column)
    await this.change(
      table,
      isFlag
        ? `update ${table} set ${name} = false where ${name} and (${where})`
        : `update ${table} set ${name} = null where ${name} is not null and (${where})`,
    )
  }

  async #freeText({ table, name, treatment, rows }: TreatedColumn): Promise<void> {
    const where = textRows(table, name, rows)
    for (const at of textTables)
      if (treatment === 'block') await this.change(at, `delete from ${at} where ${where}`)
      else await this.values({ table: at, column: 'text', where }, text => this.#policy.hash(text))
    const length = quoteName(lengthColumn(name))
    const to = treatment === 'block' ? 'null' : String(this.#policy.hash('x').length)
    for (const at of starTables(table))
      await this.change(
        at,
        `update ${at} set ${length} = ${to} where ${length} > 0 and ${length} is distinct from ${to} and ${starRows(rows, table)}`,
      )
  }

  /** Leaves of all records without a column. */
  async #leaves(table: string): Promise<void> {
    this.tables.add(table)
    const rows = await this.#engine.rows<{ entity: string; path: string; has_json: boolean }>(
      `select entity, path, max(case when value_type = 'json' then 1 else 0 end) = 1 as has_json from ${table} group by entity, path`,
    )
    for (const { entity, path, has_json } of rows) {
      const resource = catalogue.find(one => one.entity === entity)?.name
      if (resource === undefined) continue
      const plain = plainPath(path)
      const treatment = this.#policy.at(resource, plain)
      const where = `entity = ${quoteText(entity)} and path = ${quoteText(path)}`
      const isText = `value_type in ('text', 'number')`
      if (treatment)
        await this.change(
          table,
          `delete from ${table} where ${where}${treatment === 'hash' ? ` and not (${isText} or value_type = 'json')` : ''}`,
        )
      if (treatment === 'hash') {
        await this.values({ table, column: 'value_text', where: `${where} and ${isText}` }, text =>
          this.#policy.hash(text),
        )
        await this.#engine.run(
          `update ${table} set value_type = 'text' where ${where} and value_type = 'number'`,
        )
      }
      if (has_json && treatment !== 'block')
        await this.values(
          { table, column: 'value_text', where: `${where} and value_type = 'json'` },
          text => gatedValue(this.#policy, text, { resource, path: plain }) ?? this.#policy.hash(text),
        )
    }
  }

  /** A document whose leaves are rows of a table of their own: a treated leaf loses its row until it is read again. */
  async #document(table: Table, resource: string, at: string): Promise<void> {
    const pathColumn = Object.entries(table.columns).find(
      ([, { source }]) => source.from === 'field' && source.path[0] === 'path',
    )?.[0]
    if (pathColumn === undefined) return
    const [path, key] = [quoteName(pathColumn), quoteName(table.key)]
    const rows = await this.#engine.rows<{ path: string }>(
      starTables(table)
        .map(one => `select ${path} as path from ${one}`)
        .join(' union '),
    )
    const treated = rows.filter(
      one => this.#policy.at(resource, `${at}.${plainPath(one.path)}`) !== undefined,
    )
    if (treated.length === 0) return
    const where = `${path} in (${treated.map(one => quoteText(one.path)).join(', ')})`
    const keys = starTables(table)
      .map(one => `select ${key} from ${one} where ${where}`)
      .join(' union all ')
    const isPersonal = Object.values(table.columns).some(({ privacy }) => privacy !== 'open')
    for (const one of isPersonal ? piiTables(table) : [])
      await this.change(one, `delete from ${one} where ${key} in (${keys})`)
    for (const one of starTables(table)) await this.change(one, `delete from ${one} where ${where}`)
  }
}
