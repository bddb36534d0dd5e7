/** The way to stderr: hides secrets, and moves a live display out of the way of lines that are to stay. */

import type { Output } from '../world.ts'
import type { Redactor } from './redactor.ts'

export interface StderrGate extends Output {
  /** The stream itself, for a display that redraws its own lines. */
  readonly stream: Output
  /** Called before each write; pass nothing when the display is gone. */
  beforeWrite(clear?: () => void): void
}

export function gateFor(stream: Output, redactor: Redactor): StderrGate {
  let clear: (() => void) | undefined
  return {
    stream,
    get isTTY() {
      return stream.isTTY === true
    },
    get columns() {
      return stream.columns ?? 80
    },
    write: text => {
      clear?.()
      return stream.write(redactor.hide(text))
    },
    beforeWrite: next => {
      clear = next
    },
  }
}
