/** Derives the unit and the privacy class of a column. */
import type { ColumnType, Privacy } from '../contract/fields/column.ts'
import { memberTables } from '../warehouse/schema/physical.ts'
import type { SchemaName } from '../warehouse/schema/schemas.ts'
import { declaredColumn, ownersOf, starTableOf, targetOf } from './declared.ts'
import type { PrivacyClass } from './entries.ts'

const ofKind: Partial<Record<ColumnType, string>> = {
  money: 'currency of the company',
  coordinate: 'degrees',
  timestamp: 'UTC',
}

const measures = ['hours', 'days', 'weeks', 'months', 'years', 'minutes', 'seconds', 'miles', 'percent']

const numeric = /^(numeric|bigint|integer|double)/

/** `net_hours` and `hours_over` are hours; `day_of_week_iso` has no unit. */
function inName(name: string): string | undefined {
  const words = name.split('_')
  return measures.find(measure => words.includes(measure))
}

const inWords = (description: string): string | undefined =>
  /\bin (hours|days|weeks|months|years|minutes|seconds|miles|percent|the currency of the company)\b/
    .exec(description)?.[1]
    ?.replace(/^the /, '')

export interface MeasureColumn {
  readonly name: string
  readonly type: string
  readonly description: string
  readonly kind?: ColumnType
  /** Units of the columns it is computed from. */
  readonly inherited: readonly (string | undefined)[]
}

export function unitOf({ name, type, description, kind, inherited }: MeasureColumn): string | undefined {
  if (type === 'timestamptz') return 'UTC'
  if (!numeric.test(type)) return undefined
  if (kind && ofKind[kind]) return ofKind[kind]
  if (name.endsWith('_length')) return 'characters'
  if (/_(share|ratio|fraction)$/.test(name)) return undefined
  const stated = inWords(description) ?? inName(name)
  if (stated) return stated
  // A sum or difference of amounts is an amount; a ratio is not.
  const [first] = inherited
  const isAmount =
    type.startsWith('numeric') && first !== undefined && inherited.every(unit => unit === first)
  return isAmount && first !== 'UTC' ? first : undefined
}

const declared: Readonly<Record<Privacy, PrivacyClass>> = {
  open: 'open',
  personal: 'personal',
  restricted: 'restricted',
  freeText: 'free text',
}

/** Dimensions of people. A row with the key of one of them is about that person. */
const people = [...memberTables.values()].filter(({ isOfPeople }) => isOfPeople)
const subjects = people.map(({ key }) => key)

const isAboutPerson = (table: string): boolean =>
  subjects.some(column => declaredColumn(table, column) !== undefined)

/** A row of a list is about the same person as its record. */
const isOfPerson = (table: string): boolean => [table, ...ownersOf(table)].some(isAboutPerson)

function ofOpen(table: string, column: string): PrivacyClass {
  // An undeclared field may belong to any record.
  if (table === 'attribute_leaf') return 'pseudonymous'
  const target = targetOf(table, column)
  return isOfPerson(table) || (target && people.some(({ name }) => target.table === `star.${name}`))
    ? 'pseudonymous'
    : 'open'
}

/** Tables of pii that belong to no single table of star. */
const otherwise: Readonly<Record<string, PrivacyClass>> = { text: 'free text', attribute_leaf: 'personal' }

export interface ColumnPlace {
  readonly schema: SchemaName
  readonly table: string
  readonly column: string
  readonly isPublished: boolean
  /** Names of all columns of the table. */
  readonly siblings: readonly string[]
  /** Classes of the columns it is computed from. */
  readonly inherited: readonly PrivacyClass[]
}

export function privacyOf({
  schema,
  table,
  column,
  isPublished,
  siblings,
  inherited,
}: ColumnPlace): PrivacyClass {
  if (schema === 'ops') return isPublished ? 'open' : 'internal'
  if (schema === 'mart') return siblings.some(name => subjects.includes(name)) ? 'pseudonymous' : 'open'
  // A view shows the rows it reads; a mart may aggregate them.
  if (inherited.includes('pseudonymous')) return 'pseudonymous'
  const star = starTableOf(schema, table)
  if (star === undefined) {
    const values = column === 'text' || column === 'value_text'
    return (values && otherwise[table.replace(/_history$/, '')]) || 'pseudonymous'
  }
  const known = declaredColumn(star, column)
  // Star keeps only the length of a free text.
  if (schema === 'star' || schema === 'history' || !known) return ofOpen(star, column)
  return known.privacy === 'open' ? ofOpen(star, column) : declared[known.privacy]
}
