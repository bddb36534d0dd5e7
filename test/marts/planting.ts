/** What an error planted for a check is, and how a row is changed for one. */

export interface Planted {
  readonly check: string
  readonly statements: readonly string[]
  /** Table that the check names. */
  readonly subject: string
  /** Rows that it returns of all tables; at least one when left out. */
  readonly rows?: number
}

/** The table with a condition that one live row meets: of those that meet `and`, the first by key. */
export const one = (table: string, key: string, and = 'true'): string =>
  `${key} = (select min(x.${key}) from ${table} as x where not x.is_deleted and x.${key} <> '-1' and ${and})`

export const change = (
  table: string,
  key: string,
  { set, and }: { readonly set: string; readonly and?: string },
): string => `update ${table} set ${set} where ${one(table, key, and)}`

export const sheet = (set: string, and?: string): string =>
  change('star.fact_timesheet', 'timesheet_id', and === undefined ? { set } : { set, and })
