/** Writes to stderr: redacts secrets, escapes control characters, and clears a live display before each line. */
import type { Secret } from '../../config/secrets.ts'
import { escaped, show, type TerminalOutput } from './terminal.ts'

/** Replaces known secrets in text that is about to be shown. */
export interface Redactor {
  learn(secrets: readonly Secret[]): void
  hide(text: string): string
}

/** Shorter texts occur in ordinary words; keys and passwords are far longer. */
const shortestSecret = 6

export function createRedactor(): Redactor {
  const spellings = new Set<string>()
  return {
    learn: secrets => {
      for (const secret of secrets) {
        const text = secret.reveal()
        if (text.length < shortestSecret) continue
        for (const spelling of [text, encodeURIComponent(text), JSON.stringify(text).slice(1, -1)]) {
          spellings.add(spelling)
        }
      }
    },
    hide: text => {
      let shown = text
      for (const spelling of spellings) shown = shown.replaceAll(spelling, '[secret]')
      return shown
    },
  }
}

export interface StderrGate extends TerminalOutput {
  /** The stream itself, for a display that redraws its own lines. */
  readonly stream: TerminalOutput
  /** Registers `clear`, called before each write; pass nothing once the display is gone. */
  beforeWrite(clear?: () => void): void
}

export function gateFor(stream: TerminalOutput, redactor: Redactor): StderrGate {
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
