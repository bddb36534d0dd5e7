/** Pages after the last one of a list, which some services refuse where others answer without rows. */
import { BadRequest, NotFound } from './errors.ts'

export interface Asked {
  readonly page: number
  readonly limit: number
}

/** Whether a page is refused that the list does not have when it has so many rows. */
export const isPastEnd = (error: unknown, { page, limit }: Asked, rows: number): boolean =>
  (error instanceof NotFound || error instanceof BadRequest) && page > 1 && (page - 1) * limit >= rows

/** The page without rows that stands for it: its total is what is known, or as many as there can be at most. */
export function pagePastEnd(asked: Asked, rows: number): Buffer {
  const total = rows === 0 ? (asked.page - 1) * asked.limit : rows
  return Buffer.from(JSON.stringify({ success: true, data: [], meta: { ...asked, total } }))
}
