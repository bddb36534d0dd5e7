/** Pools connections for parallel work beside the main one; each has its own temporary tables. */
import PQueue from 'p-queue'

interface PoolOptions<Connection> {
  readonly max: number
  /** Opens one more connection. */
  open(): Promise<Connection>
  /** Called before the first connection is used, and when none is in use any longer. */
  setBusy(connection: Connection, isBusy: boolean): Promise<void>
}

export class ConnectionPool<Connection> {
  readonly #options: PoolOptions<Connection>
  readonly #queue: PQueue
  readonly #free: Connection[] = []
  #inUse = 0
  #switched: Promise<void> = Promise.resolve()

  constructor(options: PoolOptions<Connection>) {
    this.#options = options
    this.#queue = new PQueue({ concurrency: options.max })
  }

  /** Runs one switch at a time, as new work may arrive while the last one is still finishing. */
  #switch(connection: Connection, isBusy: boolean): Promise<void> {
    this.#switched = this.#switched.then(() => this.#options.setBusy(connection, isBusy))
    return this.#switched
  }

  /**
   * Gives the work a connection of its own: first come, first served, as many at once as the pool has. Work can return its
   * connection early with `release`.
   */
  async use<Result>(work: (connection: Connection, release: () => void) => Promise<Result>): Promise<Result> {
    let result: Promise<Result> | undefined
    const given = this.#queue.add(() =>
      this.#take(
        connection =>
          new Promise<void>(release => {
            result = work(connection, release)
            result.then(
              () => release(),
              () => release(),
            )
          }),
      ),
    )
    // If both fail, report the error of the work: what follows fails for the same reason.
    await given.catch(async error => {
      await result
      throw error
    })
    return result as Promise<Result>
  }

  async #take(untilReleased: (connection: Connection) => Promise<void>): Promise<void> {
    const connection = this.#free.pop() ?? (await this.#options.open())
    this.#inUse += 1
    const isFirst = this.#inUse === 1
    try {
      if (isFirst) await this.#switch(connection, true)
      await untilReleased(connection)
    } finally {
      this.#inUse -= 1
      if (this.#inUse === 0) await this.#switch(connection, false)
      this.#free.push(connection)
    }
  }

  /** Runs the work while no connection is in use; requests for one wait until it has ended. */
  async alone(work: () => Promise<void>): Promise<void> {
    this.#queue.pause()
    try {
      await this.#queue.onPendingZero()
      await work()
    } finally {
      this.#queue.start()
    }
  }

  /** Waits until no connection is in use; empties the pool and returns its connections. */
  async drain(): Promise<readonly Connection[]> {
    await this.#queue.onIdle()
    return this.#free.splice(0)
  }
}
