/** Sends lineage events to a file, an address, or both. Reports each failure once, and delays a process by seconds at most. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import type { ProxyVariables } from '../../lib/web/proxy.ts'
import { addLine } from '../../temporary/added-lines.ts'
import type { GuardedPath } from '../../temporary/output-file.ts'
import { late, post } from '../post.ts'

export interface OutletOptions {
  /** Absolute. */
  readonly file?: string | undefined
  readonly url?: string | undefined
  readonly token?: string | undefined
  readonly proxies: ProxyVariables
  readonly clock: Clock
  /** Cancels a post when aborted. */
  readonly signal: AbortSignal
  /** Paths that the file must not replace. */
  readonly guarded: readonly GuardedPath[]
}

/** Whether a file holds lineage events, including those of other programs. */
const isEvents = (beginning: string): boolean => /^\{.*"event(Type|Time)"/.test(beginning)

export class Outlet {
  readonly #places: OutletOptions
  /** Time left for all posts together. */
  #leftMs: number
  readonly #reported = new Set<string>()

  constructor(places: OutletOptions, maxMs: number) {
    this.#places = places
    this.#leftMs = maxMs
  }

  /** Returns why it could not be sent, unless that was reported before. */
  async send(event: object): Promise<readonly string[]> {
    const failures = [this.#write(event), await this.#post(event)].flatMap(why => why ?? [])
    const news = failures.filter(why => !this.#reported.has(why))
    for (const why of news) this.#reported.add(why)
    return news
  }

  #write(event: object): string | undefined {
    const { file, guarded } = this.#places
    if (file === undefined) return undefined
    try {
      mkdirSync(dirname(file), { recursive: true })
      addLine(file, JSON.stringify(event), { guarded, isOurs: isEvents })
      return undefined
    } catch (error) {
      return `lineage.file: ${error instanceof Error ? error.message : String(error)}`
    }
  }

  async #post(event: object): Promise<string | undefined> {
    const { url, token, proxies, clock, signal } = this.#places
    if (url === undefined) return undefined
    const maxMs = Math.floor(this.#leftMs)
    if (maxMs <= 0)
      return 'lineage.url: the time for all events of this process has run out (lineage.seconds)'
    const begun = clock.now()
    const why = await post({ url, token, proxies, timeoutMs: maxMs, withinMs: maxMs, signal }, event)
    const took = clock.now() - begun
    if (why === late) this.#leftMs = 0
    else this.#leftMs -= why === undefined ? Math.max(0, took - quickMs) : took
    return why === undefined ? undefined : `lineage.url: ${why}`
  }
}

/** Answers this quick do not use up the time, so that a long day of events never runs out of it. */
const quickMs = 100
