/** Connections beside the main one, for work that goes on side by side: a temporary table is its connection's own. */
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'
import PQueue from 'p-queue'

export interface Lanes<Lane> {
  /** The lane that the caller is in. */
  current(): Lane | undefined
  /**
   * Runs the work in a lane that nobody else is in: who comes first goes first, as many at once as there are lanes. Work that
   * needs its lane no longer gives it back with `release` before it ends.
   */
  enter<Result>(work: (release: () => void) => Promise<Result>): Promise<Result>
  /** Waits until all lanes are empty; gives back those that were opened. */
  leave(): Promise<readonly Lane[]>
}

interface LaneOptions<Lane> {
  readonly most: number
  /** Called when a lane is needed for the first time. */
  open(): Promise<Lane>
  /** Called before anybody is in a lane, and when nobody is any more. */
  turn(lane: Lane, isBusy: boolean): Promise<void>
}

export function createLanes<Lane>({ most, open, turn }: LaneOptions<Lane>): Lanes<Lane> {
  const queue = new PQueue({ concurrency: most })
  const inside = new AsyncLocalStorage<Lane>()
  const empty: Lane[] = []
  let busy = 0
  let turned: Promise<void> = Promise.resolve()
  /** One after the other, as somebody may come while the last one is leaving. */
  const turnTo = (lane: Lane, isBusy: boolean): Promise<void> => {
    turned = turned.then(() => turn(lane, isBusy))
    return turned
  }
  const pass = async (work: () => Promise<void>): Promise<void> => {
    busy += 1
    const isFirst = busy === 1
    const lane = empty.pop() ?? (await open())
    try {
      if (isFirst) await turnTo(lane, true)
      await inside.run(lane, work)
    } finally {
      busy -= 1
      if (busy === 0) await turnTo(lane, false)
      empty.push(lane)
    }
  }
  return {
    current: () => inside.getStore(),
    // Whoever leaves would otherwise lend its own context to the next.
    async enter<Result>(work: (release: () => void) => Promise<Result>): Promise<Result> {
      let result: Promise<Result> | undefined
      const untilReleased = (): Promise<void> =>
        new Promise(release => {
          result = work(release)
          result.then(
            () => release(),
            () => release(),
          )
        })
      await queue.add(AsyncResource.bind(() => pass(untilReleased)))
      return result as Promise<Result>
    },
    async leave() {
      await queue.onIdle()
      return empty.splice(0)
    },
  }
}
