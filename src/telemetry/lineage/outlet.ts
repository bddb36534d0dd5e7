/** Where events of lineage go: a file, an address, or both. What cannot be sent is told once, and delays a process by seconds at most. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import type { ProxyVariables } from '../../lib/web/proxy.ts'
import { addLine } from '../../temporary/added-lines.ts'
import type { Guarded } from '../../temporary/output-file.ts'
import { late, post } from '../post.ts'

export interface OutletPlaces {
  /** Absolute. */
  readonly file?: string | undefined
  readonly url?: string | undefined
  readonly token?: string | undefined
  readonly proxies: ProxyVariables
  readonly clock: Clock
  /** Ends a post when aborted. */
  readonly signal: AbortSignal
  /** What the file must not be. */
  readonly guarded: readonly Guarded[]
}

/** Also those of other programs. */
const isEvents = (beginning: string): boolean => /^\{.*"event(Type|Time)"/.test(beginning)

export class Outlet {
  readonly #places: OutletPlaces
  /** Of all posts together. */
  #leftMs: number
  readonly #told = new Set<string>()

  constructor(places: OutletPlaces, mostMs: number) {
    this.#places = places
    this.#leftMs = mostMs
  }

  /** Why it could not be sent, unless that has been told before. */
  async send(event: object): Promise<readonly string[]> {
    const failures = [this.#write(event), await this.#post(event)].flatMap(why => why ?? [])
    const news = failures.filter(why => !this.#told.has(why))
    for (const why of news) this.#told.add(why)
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
    const mostMs = Math.floor(this.#leftMs)
    if (mostMs <= 0) return 'lineage.url: the time for all events of this process is over (lineage.seconds)'
    const begun = clock.now()
    const why = await post({ url, token, proxies, timeoutMs: mostMs, withinMs: mostMs, signal }, event)
    const took = clock.now() - begun
    if (why === late) this.#leftMs = 0
    else this.#leftMs -= why === undefined ? Math.max(0, took - quickMs) : took
    return why === undefined ? undefined : `lineage.url: ${why}`
  }
}

/** A usual answer: not even the events of a long day use up the time. */
const quickMs = 100
