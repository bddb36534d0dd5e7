/** What HTML and Markdown call the same thing. */
import type { ColumnEntry, Dictionary, PrivacyClass, TableEntry } from './entries.ts'

export const privacyNames: Readonly<Record<PrivacyClass, string>> = {
  open: 'R0 open',
  pseudonymous: 'R1 pseudonymous',
  personal: 'R2 personal',
  restricted: 'R3 restricted',
  'free text': 'R3 free text',
  internal: 'internal',
}

export const privacyMeanings: Readonly<Record<PrivacyClass, string>> = {
  open: 'Of no person.',
  pseudonymous: 'Of a person who is known by id only. Published; show small groups with care.',
  personal: 'Names a person or reaches one: in pii only, never published.',
  restricted: 'Bank details, addresses of files: in pii only, never published.',
  'free text':
    'Words that people typed and that may say anything of anybody: in pii.text only. Star has their length.',
  internal: 'Ledger of the working warehouse; the published copy leaves it out.',
}

export const schemaMeanings: Readonly<Record<TableEntry['schema'], string>> = {
  mart: 'Answers: wide tables for reports, rebuilt whole, each with as_of.',
  star: 'Facts, dimensions and bridges, in step with the service.',
  pii: 'What names or reaches a person, and where money goes. Never published.',
  history: 'Superseded versions of the rows of star, with valid_from and valid_to.',
  ops: 'The ledger: runs, windows and their proof, quarantine, drift.',
}

export const schemaOrder = ['mart', 'star', 'pii', 'history', 'ops'] as const

/** Kinds of table of star, by the beginning of their names. */
export function kindOf({ schema, name, kind }: TableEntry): string {
  if (kind === 'view') return 'view'
  if (schema !== 'star') return 'table'
  return /^(dim|fact|bridge)_/.exec(name)?.[1]?.replace('dim', 'dimension') ?? 'table'
}

/** Whether it holds superseded versions, with the columns of the table that it is named for. */
export const isHistory = ({ schema, name }: TableEntry): boolean =>
  schema === 'history' || (schema === 'pii' && name.endsWith('_history'))

/** The table whose superseded versions it holds. */
export const currentOf = ({ schema, name }: TableEntry): string =>
  schema === 'history' ? `star.${name}` : `pii.${name.replace(/_history$/, '')}`

/** How a column comes by its fields, as a beginning of a sentence that the fields end. */
export const madeWords: Readonly<Record<NonNullable<ColumnEntry['made']>, string>> = {
  derived: 'derived from',
  'figure of a list': 'figure of',
  'position in a list': 'position in',
  'said by the request': 'said by the request',
}

/** Tables of a schema that are described in full: history repeats the columns of what it is the history of. */
export const described = ({ tables }: Dictionary, schema: TableEntry['schema']): TableEntry[] =>
  tables.filter(table => table.schema === schema && !isHistory(table))

/** 2026-11-02 02:30 UTC. */
export const minuteOf = (iso: string): string => `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`
