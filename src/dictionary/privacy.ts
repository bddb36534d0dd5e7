/** The privacy class of a column: what the declarations say, and what follows from whom a row is about. */
import type { Privacy } from '../contract/fields/column.ts'
import type { SchemaName } from '../warehouse/schema/schemas.ts'
import { declaredColumn, ownersOf, starTableOf, targetOf } from './declared.ts'
import type { PrivacyClass } from './entries.ts'

const declared: Readonly<Record<Privacy, PrivacyClass>> = {
  open: 'open',
  personal: 'personal',
  restricted: 'restricted',
  freeText: 'free text',
}

/** A row with one of these is about that person. */
const subjects = ['worker_id', 'user_id', 'contact_id']

/** Dimensions of people. */
const people = ['star.dim_worker', 'star.dim_user', 'star.dim_contact']

const isAboutSomebody = (table: string): boolean =>
  subjects.some(column => declaredColumn(table, column) !== undefined)

/** A row of a list is about whom its record is about. */
const isOfSomebody = (table: string): boolean => [table, ...ownersOf(table)].some(isAboutSomebody)

function ofOpen(table: string, column: string): PrivacyClass {
  // Leaves of whatever record had a field that nobody declared.
  if (table === 'attribute_leaf') return 'pseudonymous'
  const target = targetOf(table, column)
  return isOfSomebody(table) || (target && people.includes(target.table)) ? 'pseudonymous' : 'open'
}

/** Tables of pii that no table of star has columns in. */
const otherwise: Readonly<Record<string, PrivacyClass>> = { text: 'free text', attribute_leaf: 'personal' }

export interface Whose {
  readonly schema: SchemaName
  readonly table: string
  readonly column: string
  readonly isPublished: boolean
  /** Names of all columns of the table. */
  readonly siblings: readonly string[]
  /** Classes of what it is computed from. */
  readonly inherited: readonly PrivacyClass[]
}

export function privacyOf({ schema, table, column, isPublished, siblings, inherited }: Whose): PrivacyClass {
  if (schema === 'ops') return isPublished ? 'open' : 'internal'
  if (schema === 'mart') return siblings.some(name => subjects.includes(name)) ? 'pseudonymous' : 'open'
  // A view shows the rows that it reads; a mart may have summed them up.
  if (inherited.includes('pseudonymous')) return 'pseudonymous'
  const star = starTableOf(schema, table)
  if (star === undefined) {
    const values = column === 'text' || column === 'value_text'
    return (values && otherwise[table.replace(/_history$/, '')]) || 'pseudonymous'
  }
  const said = declaredColumn(star, column)
  // Of a free text star keeps the length only.
  if (schema === 'star' || schema === 'history' || !said) return ofOpen(star, column)
  return said.privacy === 'open' ? ofOpen(star, column) : declared[said.privacy]
}
