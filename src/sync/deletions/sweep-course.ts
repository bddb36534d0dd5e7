/** One walk of a sweep as a course of pages, whoever reads them: from the last to the first, none believed unchecked. */
import { MusterError } from '../../lib/errors.ts'
import { advance, type WalkState } from '../scan/walk.ts'
import { agrees, type SweptRow, sweptRows } from './swept-page.ts'

/** How often a page that contradicts itself is asked for again. */
const mostReadings = 3

export interface SweptPage {
  readonly total: number
  readonly rows: readonly SweptRow[]
}

/** An answer as it came: what the service says there is in all, and the records of the page. */
export interface RawPage {
  readonly total: number
  readonly records: readonly unknown[]
}

export interface Course {
  /** For messages. */
  readonly where: string
  ask(page: number): Promise<RawPage>
  /** Called after each page, with how far the walk is then. */
  took(page: SweptPage, state: WalkState): Promise<void>
}

async function read({ ask, where }: Course, page: number): Promise<SweptPage> {
  for (let reading = 1; ; reading += 1) {
    const { total, records } = await ask(page)
    const rows = sweptRows(records)
    if (rows && agrees({ page, total }, rows.length)) return { total, rows }
    if (reading < mostReadings) continue
    throw new MusterError({
      what: rows ? 'rows and total of a page contradict each other' : 'a record came without its id',
      where: `${where}, page ${page}`,
      next: 'nothing was tombstoned; run again, and tell the service about it if it stays',
    })
  }
}

export async function walkOnce(begin: WalkState, course: Course): Promise<WalkState> {
  let state = begin
  while (state.nextPage > 0) {
    const page = state.nextPage
    const answer = await read(course, page)
    state = advance(state, { page, total: answer.total, empty: answer.rows.length === 0 })
    await course.took(answer, state)
  }
  if (state.pages !== 1) return state
  // One answer alone has no other to contradict it, such as that of a copy of the service that lags behind.
  const again = await read(course, 1)
  state = { ...state, greatestTotal: Math.max(state.greatestTotal, again.total) }
  await course.took(again, state)
  return state
}
