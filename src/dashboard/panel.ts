/** Declares a panel of the dashboard: its statement over one mart, how it is drawn, and the rows behind it. */

/** How a figure is written. Shares are fractions of 1; a price is money an hour. */
export type FigureUnit =
  | 'money'
  | 'price'
  | 'number'
  | 'hours'
  | 'days'
  | 'count'
  | 'share'
  | 'text'
  | 'date'
  | 'time'
  | 'flag'

export interface PanelFigure {
  readonly column: string
  readonly label: string
  readonly unit: FigureUnit
  /** Column of what waits for approval, in the same unit: charts by week stack it on the figure. */
  readonly pending?: string
  /** Currency of an amount, where it is known. */
  readonly currency?: string
}

/** How the rows of a panel are drawn; every drawing has the same rows as a table behind it. */
export type PanelDrawing =
  | { readonly kind: 'tiles'; readonly figures: readonly PanelFigure[] }
  /** One bar a week; `settled` marks weeks that will hardly grow. */
  | {
      readonly kind: 'weeks'
      readonly x: string
      readonly settled?: string
      readonly figures: readonly PanelFigure[]
    }
  /** Ranked by the figure chosen, or in the order of the rows. */
  | {
      readonly kind: 'bars'
      readonly label: string
      readonly inOrder?: boolean
      readonly figures: readonly PanelFigure[]
    }
  /** Counts by `x`; `fences` are columns with the same two bounds on every row. */
  | {
      readonly kind: 'distribution'
      readonly x: PanelFigure
      readonly count: string
      readonly fences: readonly [lower: string, upper: string]
    }
  | {
      readonly kind: 'heat'
      readonly x: string
      readonly y: string
      readonly settled?: string
      readonly figure: PanelFigure
    }
  | { readonly kind: 'funnel'; readonly figures: readonly PanelFigure[] }
  | { readonly kind: 'table'; readonly figures: readonly PanelFigure[] }
  /**
   * One figure in large type. By week: `is_settled_week`, and rows of members with `now` and `before` explain a change. Of a
   * ratio, `numerator` and `denominator` are its totals. Without `week`: one row, as it stands now.
   */
  | {
      readonly kind: 'headline'
      readonly figure: PanelFigure
      readonly week?: string
      readonly page: string
      /** What else the row says. */
      readonly also?: readonly PanelFigure[]
    }
  /** A line of what needs attention, with a link to the panel that lists it; `figures` describe the worst. */
  | {
      readonly kind: 'attention'
      readonly page: string
      readonly panel: string
      /** Column of the number, and its words for one, for more, and for none. */
      readonly count: string
      readonly one: string
      readonly many: string
      readonly none: string
      readonly figures: readonly PanelFigure[]
    }
  /** One row per question about the data: `state` is good, warning or bad; `command` helps. */
  | { readonly kind: 'verdicts' }

interface Drill {
  /** Mart of the rows, if not the panel's; its columns of the same names select them. */
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
  /** What the panel counts, and what it leaves out. */
  readonly about: string
  /** Without its schema. */
  readonly mart: string
  /** Contains {where}, which the filters replace. */
  readonly sql: string
  /** Column of the mart that the dates of the filter apply to. */
  readonly date?: string
  /** Compares with what came before the first day of the filter, and so heeds the last day alone. */
  readonly isCompared?: boolean
  /** Shows what is open now: an earlier period has no earlier state, so nothing compares them. */
  readonly standsNow?: boolean
  readonly show: PanelDrawing
  readonly drill?: Drill
  /** What to do when there are no rows. */
  readonly empty: string
  /** Takes a whole row of the page. */
  readonly isWide?: boolean
}

export interface DashboardPage {
  readonly id: string
  readonly title: string
  readonly question: string
  readonly panels: readonly Panel[]
}

export const money = (column: string, label: string): PanelFigure => ({ column, label, unit: 'money' })
/** A figure of approved work, with the column of what still waits. */
export const withPending = (figure: PanelFigure, pending: string): PanelFigure => ({ ...figure, pending })
export const hours = (column: string, label: string): PanelFigure => ({ column, label, unit: 'hours' })
export const count = (column: string, label: string): PanelFigure => ({ column, label, unit: 'count' })
export const share = (column: string, label: string): PanelFigure => ({ column, label, unit: 'share' })
export const price = (column: string, label: string): PanelFigure => ({ column, label, unit: 'price' })
export const number = (column: string, label: string): PanelFigure => ({ column, label, unit: 'number' })
export const days = (column: string, label: string): PanelFigure => ({ column, label, unit: 'days' })
export const text = (column: string, label: string): PanelFigure => ({ column, label, unit: 'text' })
export const date = (column: string, label: string): PanelFigure => ({ column, label, unit: 'date' })
export const time = (column: string, label: string): PanelFigure => ({ column, label, unit: 'time' })
export const flag = (column: string, label: string): PanelFigure => ({ column, label, unit: 'flag' })
