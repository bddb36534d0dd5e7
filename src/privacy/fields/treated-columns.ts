/** Derives from a policy and the declarations which columns, rows and attributes of the warehouse a clean has to treat. */
import { catalogue } from '../../contract/catalogue.ts'
import { joinedPath, sourcesIn, type TablePlace, tablePlaces } from '../../contract/derived/field-places.ts'
import type { Treatment } from '../../contract/derived/field-rules.ts'
import { referenceDimensions } from '../../contract/dimensions.ts'
import type { Column } from '../../contract/fields/column.ts'
import type { Resource } from '../../contract/fields/resource.ts'
import type { Table } from '../../contract/fields/table.ts'
import { constantsOf, memberTables } from '../../warehouse/schema/physical.ts'
import type { FieldPolicy } from './policy.ts'

/** A column whose values are removed or hashed. */
export interface TreatedColumn {
  readonly table: Table
  readonly name: string
  readonly column: Column
  /** `hash` only for the value of a field; what is derived from it is emptied. */
  readonly treatment: Treatment
  readonly rows: RowsOf
}

/** JSON in which a field may have to be treated. */
export interface TreatedDocument extends Pick<TreatedColumn, 'table' | 'name' | 'column' | 'rows'> {
  readonly resource: string
  readonly path: string
}

/** Rows of a table that records of one resource fill, or only those of members that no record of their own gave. */
export interface RowsOf {
  readonly constants: readonly (readonly [column: string, value: string])[]
  readonly isInferred?: boolean
}

/** A document with a row for each leaf. */
export interface TreatedLeaves extends Pick<TreatedColumn, 'table'> {
  readonly resource: string
  readonly at: string
}

export interface Treated {
  readonly columns: TreatedColumn[]
  readonly documents: TreatedDocument[]
  readonly leaves: TreatedLeaves[]
  /** Tables of blocked lists, whose rows go. */
  readonly lists: { readonly table: Table; readonly rows: RowsOf }[]
}

class Search {
  readonly #policy: FieldPolicy
  readonly #resource: Resource
  readonly #found: Treated

  constructor(policy: FieldPolicy, resource: Resource, found: Treated) {
    this.#policy = policy
    this.#resource = resource
    this.#found = found
  }

  run(): void {
    for (const place of tablePlaces(this.#resource)) this.#place(place)
  }

  #place(place: TablePlace): void {
    const { table, at, shape } = place
    const rows = { constants: constantsOf(table) }
    const { name: resource } = this.#resource
    if (at !== '' && this.#at(at) === 'block' && !this.#policy.holdsNeeded(resource, at))
      this.#found.lists.push({ table, rows })
    else if (shape === 'leaves') this.#found.leaves.push({ table, resource, at })
    else for (const [name, column] of Object.entries(table.columns)) this.#column(place, name, column)
  }

  #column(place: TablePlace, name: string, column: Column): void {
    const { table } = place
    const { source } = column
    const rows = { constants: constantsOf(table) }
    const treatment = this.#treatment(place, name)
    if (treatment && name !== table.key) this.#found.columns.push({ table, name, column, treatment, rows })
    else if (source.from === 'field' && (column.type === 'json' || column.isUntyped))
      this.#found.documents.push({
        ...{ table, name, column, rows },
        resource: this.#resource.name,
        path: joinedPath(place.at, source.path),
      })
    this.#attributes(place, column)
  }

  /** Attributes that a reference gives to the member: of people without records of their own, those of all members. */
  #attributes(place: TablePlace, { member }: Column): void {
    const table = member && memberTables.get(member.dimension)
    for (const [name, source] of Object.entries(member?.attributes ?? {})) {
      const treatment = source.from === 'field' ? this.#at(joinedPath(place.at, source.path)) : undefined
      const column = table?.columns[name]
      if (!treatment || !table || !column) continue
      const isInferred = !referenceDimensions.includes(table)
      this.#found.columns.push({ table, name, column, treatment, rows: { constants: [], isInferred } })
    }
  }

  #at(path: string): Treatment | undefined {
    return this.#policy.at(this.#resource.name, path)
  }

  #treatment(place: TablePlace, name: string, seen: readonly string[] = []): Treatment | undefined {
    const column = place.table.columns[name]
    if (!column || seen.includes(name)) return undefined
    const { source } = column
    const root = tablePlaces(this.#resource)[0] as TablePlace
    switch (source.from) {
      case 'field':
        return this.#at(joinedPath(place.at, source.path))
      case 'root':
        return this.#treatment(root, source.column)
      case 'parent':
        return place.parent && this.#treatment(place.parent, source.column)
      case 'list':
        return this.#at(joinedPath(place.at, [...source.lists.flat(), ...source.path])) && 'block'
      case 'derived': {
        // References made of an address are renamed with the address.
        if (column.member) return undefined
        const parts = sourcesIn(source.sql, place.table).filter(([part]) => part !== name)
        return parts.some(([part]) => this.#treatment(place, part, [...seen, name])) ? 'block' : undefined
      }
      default:
        return undefined
    }
  }
}

export function treatedIn(policy: FieldPolicy): Treated {
  const found: Treated = { columns: [], documents: [], leaves: [], lists: [] }
  for (const resource of catalogue) new Search(policy, resource, found).run()
  return found
}
