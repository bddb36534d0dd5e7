/** Which rows of star came from some pages, for a search among them. */
import { quoteText } from '../../warehouse/sql-text.ts'

/** The runs that fetched some pages, and when the first of them arrived: rows say both. */
export class FetchedPages {
  readonly #runs = new Set<string>()
  /** ISO 8601. */
  #since: string | undefined

  add({ runId, fetchedAt }: { readonly runId: string; readonly fetchedAt: string }): void {
    this.#runs.add(runId)
    if (this.#since === undefined || Date.parse(fetchedAt) < Date.parse(this.#since)) this.#since = fetchedAt
  }

  /** Of a row of star. Its `loaded_at` is the time of its page, by which the engines find it without reading the others. */
  get condition(): string {
    const runs = [...this.#runs].map(quoteText)
    if (runs.length === 0 || this.#since === undefined) return 'false'
    return `run_id in (${runs.join(', ')}) and loaded_at >= cast(${quoteText(this.#since)} as timestamptz)`
  }
}
