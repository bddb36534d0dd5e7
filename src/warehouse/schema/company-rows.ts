/** Selects the rows of star and history about one company, as SQL for both engines, from declared references. */
import { catalogue } from '../../contract/catalogue.ts'
import type { Table } from '../../contract/fields/table.ts'
import { quoteName, quoteText } from '../sql-text.ts'
import { isMember, memberTables, type PhysicalTable, physicalTables, starColumns } from './physical.ts'
import { type Reference, references } from './references.ts'
import { keyedTables } from './unique-key.ts'

const companyColumn = 'company_id'

/** Key that means "no record named". */
const noRecord = quoteText('-1')

const namesCompany = (table: Table): boolean => starColumns(table).some(({ name }) => name === companyColumn)

/** For each table, the root tables of the records with rows in it, including itself. */
const rootsOf: ReadonlyMap<string, readonly Table[]> = (() => {
  const found = new Map<string, Table[]>()
  for (const { table: root } of catalogue)
    for (const name of new Set(keyedTables(root).map(({ table }) => table.name)))
      found.set(name, [...(found.get(name) ?? []), root])
  return found
})()

/** Root tables whose records belong to one company each. */
const companyRecords = catalogue.map(({ table }) => table).filter(namesCompany)

/** Whether a table is about the account rather than companies, such as the key, whose scope may name several. */
const isAccount = ({ name }: Table): boolean =>
  catalogue.some(
    ({ table, read }) =>
      table.name === name && read.strategy === 'snapshot' && read.rows === 'data as one record',
  )

const isRootOf = (name: string, root: Table): boolean =>
  (rootsOf.get(name) ?? []).some(one => one.name === root.name)

interface OwnedPlace extends Pick<PhysicalTable, 'name' | 'key' | 'owner'> {
  readonly columns: readonly { readonly name: string }[]
}

const stored: ReadonlyMap<string, OwnedPlace> = new Map(
  physicalTables.filter(({ schema }) => schema === 'star').map(table => [table.name, table]),
)

const hasCompany = (name: string): boolean =>
  stored.get(name)?.columns.some(column => column.name === companyColumn) ?? false

const keysOf = (table: Table, where: string): string =>
  `select ${quoteName(table.key)} from star.${quoteName(table.name)} where ${where}`

const anyOf = (selects: readonly string[]): string =>
  selects.length > 0 ? selects.join(' union ') : `select ${noRecord}`

class CompanyRows {
  readonly #own: string

  constructor(id: string) {
    this.#own = `${companyColumn} = ${quoteText(id)}`
  }

  /** SQL condition for the company's rows of a table of star or history; both have the same columns. */
  of(name: string): string {
    const place = stored.get(name)
    if (!place) throw new Error(`star.${name} is not declared`)
    const member = memberTables.get(name.slice('dim_'.length))
    if (member?.name === name) return this.#ofMember(member)
    if (place.columns.some(column => column.name === companyColumn))
      return `${this.#own}${this.#ofOwner(place)}`
    const roots = rootsOf.get(name) ?? companyRecords
    const owners = roots.filter(namesCompany).map(root => keysOf(root, this.#own))
    if (owners.length > 0) return `${quoteName(place.owner)} in (${anyOf(owners)})`
    return `true${this.#ofOwner(place)}${this.#resolved(place)}`
  }

  /** Members of the company, and members of unknown company that its records name. */
  #ofMember(member: Table): string {
    const key = quoteName(member.key)
    const named = `run_id = 'seed' or ${key} = ${noRecord} or ${key} in (${anyOf(this.#namedIn(member))})`
    if (!namesCompany(member)) return `(${named})`
    return `(${this.#own} or (coalesce(${companyColumn}, ${noRecord}) = ${noRecord} and (${named})))`
  }

  /**
   * Ids of a dimension that the rows of the company name. References in a member's own rows do not count, except for users,
   * who belong to companies.
   */
  #namedIn(member: Table): string[] {
    const isOwn = (table: string): boolean =>
      isRootOf(table, member) && (isAccount(member) || !hasCompany(table))
    const to = references.filter(({ target, table }) => target.name === member.name && !isOwn(table))
    return to.flatMap(({ table, column }) => {
      const where = this.#ofRecords(table)
      return where === undefined
        ? []
        : [`select ${quoteName(column)} from star.${quoteName(table)} where ${where}`]
    })
  }

  /** Condition for tables with rows of company records; undefined for others. */
  #ofRecords(name: string): string | undefined {
    const place = stored.get(name)
    if (hasCompany(name)) return this.#own
    const roots = (rootsOf.get(name) ?? []).filter(namesCompany)
    if (!place || roots.length === 0) return undefined
    return `${quoteName(place.owner)} in (${anyOf(roots.map(root => keysOf(root, this.#own)))})`
  }

  /** Condition for rows below a record without a company, such as a user: they go with the record. */
  #ofOwner(place: OwnedPlace): string {
    const roots = (rootsOf.get(place.name) ?? []).filter(
      root => root.name !== place.name && !namesCompany(root),
    )
    if (roots.length === 0) return ''
    return ` and ${quoteName(place.owner)} in (${anyOf(roots.map(root => keysOf(root, this.of(root.name))))})`
  }

  /** Condition for rows that name no company: they may name only members that the company has. */
  #resolved({ name, owner }: OwnedPlace): string {
    return references
      .filter(({ table, column, target }) => table === name && column !== owner && isMember(target))
      .map(({ column, target }) => ` and ${quoteName(column)} in (${keysOf(target, this.of(target.name))})`)
      .join('')
  }

  /** Expression for a column: a reference to a member of another company becomes "no record". */
  column(name: string, column: string): string {
    const reference = references.find(one => one.table === name && one.column === column)
    if (!reference || !isForeign(reference)) return quoteName(column)
    const { target } = reference
    return `case when ${quoteName(column)} in (${keysOf(target, `not ${this.of(target.name)}`)}) then ${noRecord} else ${quoteName(column)} end`
  }

  /** SQL for the ids of all records of the company, for tables with a record_id. */
  get records(): string {
    return anyOf(companyRecords.map(root => keysOf(root, this.#own)))
  }
}

const isForeign = ({ column, target }: Reference): boolean =>
  column !== companyColumn && isMember(target) && namesCompany(target)

export const rowsOfCompany = (id: string): CompanyRows => new CompanyRows(id)
export type { CompanyRows }
