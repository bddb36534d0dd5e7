/** Reads from the declarations which columns have a person's id, and which fields are personal. */
import { catalogue } from '../contract/catalogue.ts'
import type { Column, FieldPath } from '../contract/fields/column.ts'
import type { Table } from '../contract/fields/table.ts'
import { memberTables } from '../warehouse/schema/physical.ts'
import { type PersonKind, personKinds } from './recogniser.ts'

export const isPersonKind = (name: string): name is PersonKind => personKinds.some(kind => kind === name)

/** A column with the id of a person, and the fields beside it that describe the same person. */
export interface PersonColumn {
  readonly kind: PersonKind
  readonly column: string
  /** Path of the id, if the record has it as a field. */
  readonly path?: FieldPath
  /** The complete row is about this person. */
  readonly isSubject: boolean
  readonly attributes: readonly FieldPath[]
}

const fieldPath = ({ source }: Column): FieldPath | undefined =>
  source.from === 'field' ? source.path : undefined

const isRootOf = (table: Table, kind: PersonKind): boolean => memberTables.get(kind)?.name === table.name

function personal(kind: string, attributes: NonNullable<Column['member']>['attributes']): FieldPath[] {
  const columns = memberTables.get(kind)?.columns ?? {}
  return Object.entries(attributes).flatMap(([name, source]) =>
    source.from === 'field' && columns[name]?.privacy !== 'open' ? [source.path] : [],
  )
}

export function personColumns(table: Table): PersonColumn[] {
  return Object.entries(table.columns).flatMap(([name, column]): PersonColumn[] => {
    const path = fieldPath(column)
    const at = path ? { path } : {}
    const own = personKinds.find(kind => name === table.key && isRootOf(table, kind))
    if (own) return [{ kind: own, column: name, ...at, isSubject: true, attributes: [] }]
    const kind = column.member?.dimension ?? ''
    if (!isPersonKind(kind)) return []
    const attributes = personal(kind, column.member?.attributes ?? {})
    return [{ kind, column: name, ...at, isSubject: name === `${kind}_id`, attributes }]
  })
}

/** Fields that identify a contact, a person without an id. */
export const contactFields = (table: Table): FieldPath[][] =>
  Object.values(table.columns).flatMap(({ member }) =>
    member?.dimension === 'contact' ? [personal('contact', member.attributes)] : [],
  )

export interface PersonalField {
  readonly path: FieldPath
  readonly type: Column['type']
  readonly isFreeText: boolean
}

export const personalFields = (table: Table): PersonalField[] =>
  Object.values(table.columns).flatMap(column => {
    const path = fieldPath(column)
    if (!path || column.privacy === 'open') return []
    return [{ path, type: column.type, isFreeText: column.privacy === 'freeText' }]
  })

/** Paths that the table declares, including attributes of its columns. */
export const declaredPaths = (table: Table): ReadonlySet<string> =>
  new Set(
    Object.values(table.columns).flatMap(({ source, member }) =>
      [source, ...Object.values(member?.attributes ?? {})].flatMap(one =>
        one.from === 'field' ? [one.path.join('.')] : [],
      ),
    ),
  )

/** Every declared table, with the root table and entity of the records that fill it. */
export const declaredTables: readonly {
  readonly table: Table
  readonly root: Table
  readonly entity: string
}[] = catalogue.flatMap(({ table: root, entity }) => {
  const below = (table: Table): Table[] => [table, ...table.children.flatMap(child => below(child.table))]
  return below(root).map(table => ({ table, root, entity }))
})
