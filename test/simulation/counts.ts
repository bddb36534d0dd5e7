/** Counts how often each thing happened, and on how many days, over all seeds. */
export interface Occurrences {
  readonly times: number
  readonly days: number
}

export class Counts {
  readonly #all = new Map<string, Occurrences & { readonly last: number }>()
  #day = 0

  /** Starts a new day: later additions count for it. */
  beginDay(): void {
    this.#day += 1
    this.add('days')
  }

  add(what: string, times = 1): void {
    if (times === 0) return
    const previous = this.#all.get(what) ?? { times: 0, days: 0, last: 0 }
    const days = previous.days + (previous.last === this.#day ? 0 : 1)
    this.#all.set(what, { times: previous.times + times, days, last: this.#day })
  }

  /** Adds the counts of another process. */
  merge(others: readonly (readonly [string, Occurrences])[]): void {
    for (const [what, { times, days }] of others) {
      const previous = this.#all.get(what) ?? { times: 0, days: 0, last: 0 }
      this.#all.set(what, { ...previous, times: previous.times + times, days: previous.days + days })
    }
  }

  of(what: string): number {
    return this.#all.get(what)?.times ?? 0
  }

  /** In alphabetical order. */
  list(): readonly (readonly [string, Occurrences])[] {
    const all = [...this.#all].map(([what, { times, days }]) => [what, { times, days }] as const)
    return all.sort(([one], [other]) => (one < other ? -1 : 1))
  }
}
