/** How panels of one question are told apart where amounts of several currencies are in the view. */
import type { PanelAnswer } from '../../answers.ts'

export const titleOf = ({ title, currency }: PanelAnswer): string =>
  currency === null ? title : `${title}, ${currency}`

/** In the page, and as the name of a file. */
export const nameOf = ({ id, currency }: PanelAnswer): string =>
  currency === null ? id : `${id}-${currency.toLowerCase()}`

/** The filters of the page, for the rows behind it. */
export function queryOf({ currency }: PanelAnswer, filters: URLSearchParams): URLSearchParams {
  const query = new URLSearchParams(filters)
  if (currency !== null) query.set('currency', currency)
  return query
}
