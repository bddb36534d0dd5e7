/** How many columns of a terminal a text takes. */
import stringWidth from 'string-width'

/** Letters that take a column each. */
const plain = /^[\x20-\x7e]*$/

/** `string-width` takes 2 s for 80,000 characters, and the square of it: no signal is heard meanwhile. */
const pieces = /[\s\S]{1,200}/gu

/** A letter of several characters at the border of two pieces may count twice, far beyond what a terminal shows. */
export function textWidth(text: string): number {
  if (plain.test(text)) return text.length
  return (text.match(pieces) ?? []).reduce((sum, piece) => sum + stringWidth(piece), 0)
}
