/** Writes to stderr: hides secrets, escapes control characters, and clears a live display before a line that is to stay. */

import type { Redactor } from './redactor.ts'
import { escaped, type Output, show } from './terminal.ts'

export interface StderrGate extends Output {
  /** The stream itself, for a display that redraws its own lines. */
  readonly stream: Output
  /** `clear` is called before each write; pass nothing when the display is gone. */
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
      return stream.columns || 80
    },
    write: text => {
      clear?.()
      return stream.write(escaped(redactor.hide(text)))
    },
    show: render => {
      clear?.()
      return show(stream, columns => escaped(redactor.hide(render(columns))))
    },
    beforeWrite: next => {
      clear = next
    },
  }
}
