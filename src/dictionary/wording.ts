/** Texts that the HTML page and the Markdown file share. */
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
  open: 'Not about a person.',
  pseudonymous: 'About a person known by id only. Published; take care with small groups.',
  personal: 'Identifies a person or a way to contact one: in pii only, never published.',
  restricted: 'Bank details, addresses of files: in pii only, never published.',
  'free text': 'Text that people typed, which may name any person: in pii.text only. Star has its length.',
  internal: 'Ledger of the working warehouse; the published copy leaves it out.',
}

export const schemaMeanings: Readonly<Record<TableEntry['schema'], string>> = {
  mart: 'Answers: wide tables for reports, rebuilt whole, each with as_of.',
  star: 'Facts, dimensions and bridges, in step with the service.',
  pii: 'Names, contact details, bank details and free text. Never published.',
  history: 'Superseded versions of the rows of star, with valid_from and valid_to.',
  ops: 'The ledger: runs, scans and their proof, quarantine, schema drift.',
}

export const schemaOrder = ['mart', 'star', 'pii', 'history', 'ops'] as const

/** Kinds of table of star, by the beginning of their names. */
export function kindOf({ schema, name, kind }: TableEntry): string {
  if (kind === 'view') return 'view'
  if (schema !== 'star') return 'table'
  return /^(dim|fact|bridge)_/.exec(name)?.[1]?.replace('dim', 'dimension') ?? 'table'
}

/** Whether it holds superseded versions of the table with its name. */
export const isHistory = ({ schema, name }: TableEntry): boolean =>
  schema === 'history' || (schema === 'pii' && name.endsWith('_history'))

/** The table whose superseded versions it holds. */
export const currentOf = ({ schema, name }: TableEntry): string =>
  schema === 'history' ? `star.${name}` : `pii.${name.replace(/_history$/, '')}`

/** How a value is computed from fields; the fields follow these words. */
export const madeWords: Readonly<Record<NonNullable<ColumnEntry['made']>, string>> = {
  derived: 'derived from',
  'figure of a list': 'figure of',
  'position in a list': 'position in',
  'given in the request': 'given in the request',
}

/** Tables described in full: a history repeats the columns of its table. */
export const described = ({ tables }: Dictionary, schema: TableEntry['schema']): TableEntry[] =>
  tables.filter(table => table.schema === schema && !isHistory(table))

/** 2026-11-02 02:30 UTC. */
export const minuteOf = (iso: string): string => `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`
