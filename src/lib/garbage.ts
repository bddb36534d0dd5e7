/** Collects garbage while a lot is loaded: V8 does not see how much memory its garbage keeps outside of it. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Five to thirteen batches of pages: seldom enough not to be felt, often enough for memory to stay flat. */
const between = 128_000_000

let spent = 0
let collect: (() => void) | undefined

/**
 * Takes note of bytes loaded, and collects when there were enough: results of DuckDB give their memory back with the
 * objects that hold them, and pages with their buffers. A million timesheets took 505 MB without.
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
