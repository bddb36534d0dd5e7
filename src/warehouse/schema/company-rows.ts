/** Which rows of star and history are about one company: SQL that follows from the declared references, for both engines. */
import { catalogue } from '../../contract/catalogue.ts'
import type { Table } from '../../contract/fields/table.ts'
import { quoteName, quoteText } from '../sql-text.ts'
import { isMember, memberTables, type PhysicalTable, physicalTables, starColumns } from './physical.ts'
import { type Reference, references } from './references.ts'
import { placesOf } from './unique-key.ts'

const companyColumn = 'company_id'

/** Stands for a record that another does not name. */
const nobody = quoteText('-1')

const namesCompany = (table: Table): boolean => starColumns(table).some(({ name }) => name === companyColumn)

/** Records whose tables have rows in it, by the name of the table; a record's own table among them. */
const rootsOf: ReadonlyMap<string, readonly Table[]> = (() => {
  const found = new Map<string, Table[]>()
  for (const { table: root } of catalogue)
    for (const name of new Set(placesOf(root).map(({ table }) => table.name)))
      found.set(name, [...(found.get(name) ?? []), root])
  return found
})()

/** Records of one company each. */
const companyRecords = catalogue.map(({ table }) => table).filter(namesCompany)

/** Tells of the account rather than of companies: the key, whose scope may name several. */
const isAccount = ({ name }: Table): boolean =>
  catalogue.some(
    ({ table, read }) =>
      table.name === name && read.strategy === 'snapshot' && read.rows === 'data as one record',
  )

const isRootOf = (name: string, root: Table): boolean =>
  (rootsOf.get(name) ?? []).some(one => one.name === root.name)

interface Place extends Pick<PhysicalTable, 'name' | 'key' | 'owner'> {
  readonly columns: readonly { readonly name: string }[]
}

const stored: ReadonlyMap<string, Place> = new Map(
  physicalTables.filter(({ schema }) => schema === 'star').map(table => [table.name, table]),
)

const hasCompany = (name: string): boolean =>
  stored.get(name)?.columns.some(column => column.name === companyColumn) ?? false

const keysOf = (table: Table, where: string): string =>
  `select ${quoteName(table.key)} from star.${quoteName(table.name)} where ${where}`

const anyOf = (selects: readonly string[]): string =>
  selects.length > 0 ? selects.join(' union ') : `select ${nobody}`

class CompanyRows {
  readonly #own: string

  constructor(id: string) {
    this.#own = `${companyColumn} = ${quoteText(id)}`
  }

  /** Condition of the rows of a table of star or history; both have the same columns. */
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

  /** A member of a company, or one that its records name and of which nothing tells the company. */
  #ofMember(member: Table): string {
    const key = quoteName(member.key)
    const named = `run_id = 'seed' or ${key} = ${nobody} or ${key} in (${anyOf(this.#namedIn(member))})`
    if (!namesCompany(member)) return `(${named})`
    return `(${this.#own} or (coalesce(${companyColumn}, ${nobody}) = ${nobody} and (${named})))`
  }

  /**
   * Ids of a dimension that the rows of the company name. What a member says of itself is no reason to keep it, but for
   * users, who belong to companies.
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

  /** Of tables with rows of records that belong to a company; undefined for others. */
  #ofRecords(name: string): string | undefined {
    const place = stored.get(name)
    if (hasCompany(name)) return this.#own
    const roots = (rootsOf.get(name) ?? []).filter(namesCompany)
    if (!place || roots.length === 0) return undefined
    return `${quoteName(place.owner)} in (${anyOf(roots.map(root => keysOf(root, this.#own)))})`
  }

  /** Rows below a record of no company, such as a user, stay with it. */
  #ofOwner(place: Place): string {
    const roots = (rootsOf.get(place.name) ?? []).filter(
      root => root.name !== place.name && !namesCompany(root),
    )
    if (roots.length === 0) return ''
    return ` and ${quoteName(place.owner)} in (${anyOf(roots.map(root => keysOf(root, this.of(root.name))))})`
  }

  /** Where no company is named, a row may name only what the company has. */
  #resolved({ name, owner }: Place): string {
    return references
      .filter(({ table, column, target }) => table === name && column !== owner && isMember(target))
      .map(({ column, target }) => ` and ${quoteName(column)} in (${keysOf(target, this.of(target.name))})`)
      .join('')
  }

  /** Expressions of the columns: what names a member of another company names nobody. */
  column(name: string, column: string): string {
    const reference = references.find(one => one.table === name && one.column === column)
    if (!reference || !isForeign(reference)) return quoteName(column)
    const { target } = reference
    return `case when ${quoteName(column)} in (${keysOf(target, `not ${this.of(target.name)}`)}) then ${nobody} else ${quoteName(column)} end`
  }

  /** Ids of all records of the company, for tables that keep notes of records. */
  get records(): string {
    return anyOf(companyRecords.map(root => keysOf(root, this.#own)))
  }
}

const isForeign = ({ column, target }: Reference): boolean =>
  column !== companyColumn && isMember(target) && namesCompany(target)

export const rowsOfCompany = (id: string): CompanyRows => new CompanyRows(id)
export type { CompanyRows }
