/** The rows that a mart must have, as one works them out by hand. */
export type Cell = string | number | boolean | null

export interface Answer {
  readonly columns: string
  /** Which rows, when not all. */
  readonly where?: string
  readonly rows: readonly (readonly Cell[])[]
}
