/** Shares one connection between callers: one statement at a time, exclusive blocks, and transactions. */
import PQueue from 'p-queue'

const underWay = new Set<() => void>()

/**
 * Registers a running statement, so that a process with a stop signal does not wait for it. `interrupt` makes the statement
 * of `work` fail soon.
 */
export async function interruptible<Result>(
  interrupt: () => void,
  work: () => Promise<Result>,
): Promise<Result> {
  // A new function, as a set would hold the same one only once.
  const one = (): void => interrupt()
  underWay.add(one)
  try {
    return await work()
  } finally {
    underWay.delete(one)
  }
}

/** Interrupts running statements; later ones run, so that failures can be cleaned up. */
export function interruptAll(): void {
  for (const interrupt of underWay) interrupt()
}

/** Short work overtakes queued long work: reading pages waits for at most one merge. */
export type Priority = 'short' | 'long'

const priorities: Readonly<Record<Priority, number>> = { short: 1, long: 0 }

export interface Turns {
  /** Runs the work when its turn comes, and nothing else until it ends; only this work may use `turns`. */
  exclusive<Result>(work: (turns: Turns) => Promise<Result>, priority?: Priority): Promise<Result>
  /** Runs one statement. If it fails inside a transaction, that transaction cannot commit. */
  statement<Result>(work: () => Promise<Result>): Promise<Result>
  transaction<Result>(work: (turns: Turns) => Promise<Result>, priority?: Priority): Promise<Result>
}

interface Control {
  begin(): Promise<unknown>
  commit(): Promise<unknown>
  rollback(): Promise<unknown>
}

/** The turns within a block: it owns the connection, so nothing waits. */
class Turn implements Turns {
  readonly #control: Control
  #hasEnded = false
  #failure: { readonly error: unknown } | undefined

  constructor(control: Control) {
    this.#control = control
  }

  end(): void {
    this.#hasEnded = true
  }

  #requireOpen(): void {
    if (this.#hasEnded) throw new Error('a statement used the connection of a block that has ended')
  }

  async exclusive<Result>(work: (turns: Turns) => Promise<Result>): Promise<Result> {
    this.#requireOpen()
    return work(this)
  }

  async statement<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#requireOpen()
    try {
      return await work()
    } catch (error) {
      this.#failure ??= { error }
      throw error
    }
  }

  async transaction<Result>(work: (turns: Turns) => Promise<Result>): Promise<Result> {
    this.#requireOpen()
    const { begin, commit, rollback } = this.#control
    this.#failure = undefined
    await begin()
    try {
      const result = await work(this)
      // Both engines answer COMMIT after a failed statement with a silent rollback.
      this.#throwFailure()
      await commit()
      return result
    } catch (error) {
      // After a failed COMMIT the transaction is over and this may fail too; report the first error.
      await rollback().catch(() => undefined)
      throw error
    } finally {
      this.#failure = undefined
    }
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure.error
  }
}

/** The turns of one connection. */
export class ConnectionTurns implements Turns {
  readonly #control: Control
  readonly #queue = new PQueue({ concurrency: 1 })

  constructor(control: Control) {
    this.#control = control
  }

  exclusive<Result>(work: (turns: Turns) => Promise<Result>, priority: Priority = 'short'): Promise<Result> {
    const turn = new Turn(this.#control)
    return this.#queue.add(() => work(turn).finally(() => turn.end()), { priority: priorities[priority] })
  }

  statement<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.exclusive(turns => turns.statement(work))
  }

  transaction<Result>(work: (turns: Turns) => Promise<Result>, priority?: Priority): Promise<Result> {
    return this.exclusive(turns => turns.transaction(work), priority)
  }

  onIdle(): Promise<void> {
    return this.#queue.onIdle()
  }
}
