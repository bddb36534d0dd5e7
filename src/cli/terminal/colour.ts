/** Colours the words for states and results, where the terminal shows colours. */
import type { Environment } from '../../config/environment.ts'

export type ColourChoice = 'auto' | 'always' | 'never'

const [red, green, yellow, cyan] = [31, 32, 33, 36]

/** ANSI codes by word; only a word that is alone in its cell is coloured. */
const codes: Readonly<Record<string, number>> = {
  done: green,
  ok: green,
  built: green,
  passed: green,
  failed: red,
  error: red,
  missing: red,
  scanning: cyan,
  loading: cyan,
  skipped: yellow,
  incomplete: yellow,
  warning: yellow,
  withheld: yellow,
}

/** The text, coloured if it is one of these words. */
export function coloured(text: string): string {
  const code = codes[text.trim()]
  return code === undefined ? text : `\u001b[${code}m${text}\u001b[0m`
}

/** `NO_COLOR` with any value turns colours off: no-color.org. */
export function isColoured(choice: ColourChoice, env: Environment, isTerminal: boolean): boolean {
  if (choice !== 'auto') return choice === 'always'
  return isTerminal && !env.NO_COLOR && env.TERM !== 'dumb'
}
