/** How often each thing happened, over all seeds. */
export class Counts {
  readonly #all = new Map<string, number>()

  add(what: string, count = 1): void {
    this.#all.set(what, (this.#all.get(what) ?? 0) + count)
  }

  of(what: string): number {
    return this.#all.get(what) ?? 0
  }

  /** In alphabetical order. */
  list(): readonly (readonly [string, number])[] {
    return [...this.#all].sort(([one], [other]) => (one < other ? -1 : 1))
  }
}
