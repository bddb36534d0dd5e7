/** Collects garbage during a large load: V8 does not know how much memory outside its heap the garbage holds. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Bytes between two collections, five to thirteen batches of pages: costs almost no time, and memory stays flat. */
const between = 128_000_000

let spent = 0
let collect: (() => void) | undefined

/**
 * Counts loaded bytes, and collects garbage once there are enough. The memory of DuckDB results and pages is freed only
 * together with the JavaScript objects that refer to it. Without this a million timesheets took 505 MB.
 */
export function collectAfter(bytes: number): void {
  spent += bytes
  if (spent < between) return
  spent = 0
  if (!collect) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
  }
  collect()
}
