/** Makes a table as wide as the terminal: long texts are shortened, then columns are left out. A line never wraps. */
import stringWidth from 'string-width'

export interface FitColumn {
  readonly title: string
  /** Numbers are left out rather than shortened: a part of one would be another. */
  readonly isText: boolean
  /** Columns with lower numbers are left out first; those without one after them, the last first. */
  readonly drop?: number | undefined
}

export interface Fitted {
  /** Positions of the columns that are shown. */
  readonly shown: readonly number[]
  readonly titles: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** Titles of the others. */
  readonly hidden: readonly string[]
}

const gap = 2
/** Characters to which texts are shortened before a column is left out. */
const readableAt = (width: number): number => (width < 80 ? 14 : 20)

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)

function shortened(text: string, width: number): string {
  if (stringWidth(text) <= width) return text
  const letters = [...text]
  while (letters.length > 0 && stringWidth(letters.join('')) > width - 1) letters.pop()
  return `${letters.join('')}…`
}

/** Takes what is too much from the widest texts. Undefined when they would be cut below `least`. */
function narrowed(widths: readonly number[], texts: readonly boolean[], most: number): number[] | undefined {
  const result = [...widths]
  const total = (): number => sum(result) + gap * (result.length - 1)
  const least = result.length === 1 ? 2 : readableAt(most)
  while (total() > most) {
    const cuttable = result.map((width, index) => (texts[index] ? width : 0))
    const widest = cuttable.indexOf(Math.max(...cuttable))
    if ((cuttable[widest] ?? 0) <= least) return undefined
    result[widest] = Math.max(least, (result[widest] ?? 0) - (total() - most))
  }
  return result
}

/** The first column names the row and stays. */
function nextToDrop(columns: readonly FitColumn[], shown: readonly number[]): number | undefined {
  const order = (index: number): number => columns[index]?.drop ?? columns.length * 1000 - index
  return shown.slice(1).sort((one, other) => order(one) - order(other))[0]
}

export function fitTable(
  columns: readonly FitColumn[],
  rows: readonly (readonly string[])[],
  width: number,
): Fitted {
  const natural = columns.map(({ title }, index) =>
    Math.max(stringWidth(title), ...rows.map(row => stringWidth(row[index] ?? ''))),
  )
  let shown = columns.map((_, index) => index)
  for (;;) {
    const isText = shown.map(index => columns[index]?.isText ?? true)
    const widths = narrowed(
      shown.map(index => natural[index] ?? 0),
      shown.length === 1 ? [true] : isText,
      width,
    )
    const dropped = widths ? undefined : nextToDrop(columns, shown)
    if (dropped === undefined) {
      const within = (texts: readonly string[]): string[] =>
        shown.map((index, at) => shortened(texts[index] ?? '', widths?.[at] ?? width))
      const titles = within(columns.map(({ title }) => title))
      const hidden = columns.filter((_, index) => !shown.includes(index)).map(({ title }) => title)
      return { shown, titles, rows: rows.map(within), hidden }
    }
    shown = shown.filter(index => index !== dropped)
  }
}
