/** Names the panels of one question, which needs one per currency if the view has several. */
import type { PanelAnswer } from '../../answers.ts'

export const titleOf = ({ title, currency }: PanelAnswer): string =>
  currency === null ? title : `${title}, ${currency}`

/** Name of a panel in the page and in file names. */
export const nameOf = ({ id, currency }: PanelAnswer): string =>
  currency === null ? id : `${id}-${currency.toLowerCase()}`

/** The filters of the page and the panel's currency, for the rows behind it. */
export function queryOf({ currency }: PanelAnswer, filters: URLSearchParams): URLSearchParams {
  const query = new URLSearchParams(filters)
  if (currency !== null) query.set('currency', currency)
  return query
}
