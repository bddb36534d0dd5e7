/** What a panel of the dashboard is declared with: its statement over one mart, how it is shown, and where it drills to. */

/** How a figure is written. Shares are fractions of 1. */
export type Unit = 'money' | 'rate' | 'hours' | 'days' | 'count' | 'share' | 'text' | 'date' | 'time' | 'flag'

export interface Figure {
  readonly column: string
  readonly label: string
  readonly unit: Unit
}

/** How the rows of a panel are drawn; every drawing has the same rows as a table behind it. */
export type Show =
  | { readonly kind: 'tiles'; readonly figures: readonly Figure[] }
  /** One bar a week; a week that is not over is told apart by `complete`. */
  | {
      readonly kind: 'weeks'
      readonly x: string
      readonly complete?: string
      readonly figures: readonly Figure[]
    }
  /** Ranked by the figure chosen, or in the order of the rows. */
  | {
      readonly kind: 'bars'
      readonly label: string
      readonly inOrder?: boolean
      readonly figures: readonly Figure[]
    }
  /** Counts by `x`; `fences` are columns with the same two bounds on every row. */
  | {
      readonly kind: 'distribution'
      readonly x: Figure
      readonly count: string
      readonly fences: readonly [lower: string, upper: string]
    }
  | { readonly kind: 'heat'; readonly x: string; readonly y: string; readonly figure: Figure }
  | { readonly kind: 'funnel'; readonly figures: readonly Figure[] }
  | { readonly kind: 'table'; readonly figures: readonly Figure[] }
  /** One row a question about the data: `state` is good, warning or bad; `command` helps. */
  | { readonly kind: 'verdicts' }

interface Drill {
  /** Another mart than that of the panel, whose columns of the same names select the rows. */
  readonly mart?: string
  /** Columns of a row of the panel that select the rows behind it. */
  readonly by: readonly string[]
  /** ORDER BY of the rows. */
  readonly order: string
}

export interface Panel {
  /** In addresses. */
  readonly id: string
  readonly title: string
  /** What is counted, and what is not. */
  readonly about: string
  /** Without its schema. */
  readonly mart: string
  /** Holds {where}, which the filters take the place of. */
  readonly sql: string
  /** Column of the mart that the dates of the filter apply to. */
  readonly date?: string
  readonly show: Show
  readonly drill?: Drill
  /** What to do when there are no rows. */
  readonly empty: string
  /** Takes a whole row of the page. */
  readonly isWide?: boolean
}

export interface Page {
  readonly id: string
  readonly title: string
  readonly question: string
  readonly panels: readonly Panel[]
}

export const money = (column: string, label: string): Figure => ({ column, label, unit: 'money' })
export const hours = (column: string, label: string): Figure => ({ column, label, unit: 'hours' })
export const count = (column: string, label: string): Figure => ({ column, label, unit: 'count' })
export const share = (column: string, label: string): Figure => ({ column, label, unit: 'share' })
export const rate = (column: string, label: string): Figure => ({ column, label, unit: 'rate' })
export const days = (column: string, label: string): Figure => ({ column, label, unit: 'days' })
export const text = (column: string, label: string): Figure => ({ column, label, unit: 'text' })
export const date = (column: string, label: string): Figure => ({ column, label, unit: 'date' })
export const time = (column: string, label: string): Figure => ({ column, label, unit: 'time' })
export const flag = (column: string, label: string): Figure => ({ column, label, unit: 'flag' })
