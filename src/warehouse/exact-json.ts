/** JSON of a query's answer as values, of which no number loses a digit. */

const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** As many decimal digits as a double always keeps. */
const exactDigits = 15

function isExact(number: string): boolean {
  if (Number.isSafeInteger(Number(number)) && /^-?\d+$/.test(number)) return true
  const [mantissa = ''] = number.split(/e/i)
  const digits = mantissa.replace(/[-.]/g, '').replace(/^0+/, '')
  return digits.length <= exactDigits && Number.isFinite(Number(number))
}

/** A number that a double does not hold is a text, as it is in a column of its own. Throws SyntaxError for other text. */
export const jsonValue = (text: string): unknown =>
  JSON.parse(text.replace(token, part => (part.startsWith('"') || isExact(part) ? part : `"${part}"`)))
