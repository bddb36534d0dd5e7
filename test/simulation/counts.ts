/** How often each thing happened, and in how many nights, over all seeds. */
export interface Happened {
  readonly times: number
  readonly nights: number
}

export class Counts {
  readonly #all = new Map<string, Happened & { readonly last: number }>()
  #night = 0

  /** What is added from here on happens in another night. */
  beginNight(): void {
    this.#night += 1
    this.add('nights')
  }

  add(what: string, times = 1): void {
    if (times === 0) return
    const before = this.#all.get(what) ?? { times: 0, nights: 0, last: 0 }
    const nights = before.nights + (before.last === this.#night ? 0 : 1)
    this.#all.set(what, { times: before.times + times, nights, last: this.#night })
  }

  /** Those of another process. */
  merge(others: readonly (readonly [string, Happened])[]): void {
    for (const [what, { times, nights }] of others) {
      const before = this.#all.get(what) ?? { times: 0, nights: 0, last: 0 }
      this.#all.set(what, { ...before, times: before.times + times, nights: before.nights + nights })
    }
  }

  of(what: string): number {
    return this.#all.get(what)?.times ?? 0
  }

  /** In alphabetical order. */
  list(): readonly (readonly [string, Happened])[] {
    const all = [...this.#all].map(([what, { times, nights }]) => [what, { times, nights }] as const)
    return all.sort(([one], [other]) => (one < other ? -1 : 1))
  }
}
