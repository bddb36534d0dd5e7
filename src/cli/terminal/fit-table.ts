/** Fits a table to the terminal's width: shortens or breaks long texts, then leaves out columns. */
import wrapAnsi from 'wrap-ansi'
import { textWidth } from './wrapped.ts'

export interface FitColumn {
  readonly title: string
  /** Numbers are left out rather than shortened: part of a number would be a different number. */
  readonly isText: boolean
  /** Columns with lower numbers are left out first; those without one after them, the last first. */
  readonly drop?: number | undefined
  /** Characters below which a text is left out rather than shortened. */
  readonly minWidth?: number | undefined
  /** Breaks a long text over several lines of its row instead of shortening it. */
  readonly breaks?: boolean | undefined
}

export interface FittedTable {
  /** Positions of the columns that are shown. */
  readonly shown: readonly number[]
  readonly titles: readonly string[]
  /** A cell may have several lines in one text. */
  readonly rows: readonly (readonly string[])[]
  /** Titles of the columns left out. */
  readonly hidden: readonly string[]
}

const gap = 2
/** Characters to which texts are shortened before a column is left out. */
const readableAt = (width: number): number => (width < 80 ? 14 : 20)

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)

function shortened(text: string, width: number): string {
  if (textWidth(text) <= width) return text
  // Letters of several characters rarely have more than eight.
  const letters = [...text.slice(0, 8 * width)]
  while (letters.length > 0 && textWidth(letters.join('')) > width - 1) letters.pop()
  return `${letters.join('')}…`
}

/** Between words, or within one that is too long. */
const broken = (text: string, width: number): string =>
  textWidth(text) <= width ? text : wrapAnsi(text, width, { hard: true })

/** Shortens the widest texts, each down to its minimum. Undefined if that is not enough. */
function narrowed(widths: readonly number[], minWidth: readonly number[], max: number): number[] | undefined {
  const result = [...widths]
  const total = (): number => sum(result) + gap * (result.length - 1)
  while (total() > max) {
    const cuttable = result.map((width, index) => (width > (minWidth[index] ?? width) ? width : 0))
    const widest = cuttable.indexOf(Math.max(...cuttable))
    if ((cuttable[widest] ?? 0) === 0) return undefined
    result[widest] = Math.max(minWidth[widest] ?? 0, (result[widest] ?? 0) - (total() - max))
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
): FittedTable {
  const natural = columns.map(({ title }, index) =>
    Math.max(textWidth(title), ...rows.map(row => textWidth(row[index] ?? ''))),
  )
  const minOf = (index: number, beside: number): number => {
    if (beside === 1) return 2
    const { isText = true, minWidth = readableAt(width) } = columns[index] ?? {}
    return isText ? Math.min(natural[index] ?? 0, minWidth) : (natural[index] ?? 0)
  }
  const all = columns.map((_, index) => index)
  const isEmpty = (index: number): boolean => rows.every(row => (row[index] ?? '') === '')
  // Empty columns go first, and are not listed as left out.
  const naturalWidth = sum(natural) + gap * (natural.length - 1)
  let shown = naturalWidth > width && rows.length > 0 ? all.filter(index => !isEmpty(index)) : all
  const shownColumns = new Set(shown)
  for (;;) {
    const widths = narrowed(
      shown.map(index => natural[index] ?? 0),
      shown.map(index => minOf(index, shown.length)),
      width,
    )
    const dropped = widths ? undefined : nextToDrop(columns, shown)
    if (dropped === undefined) {
      const widthAt = (at: number): number => widths?.[at] ?? width
      const within = (texts: readonly string[]): string[] =>
        shown.map((index, at) =>
          (columns[index]?.breaks ? broken : shortened)(texts[index] ?? '', widthAt(at)),
        )
      const titles = shown.map((index, at) => shortened(columns[index]?.title ?? '', widthAt(at)))
      const isHidden = (index: number): boolean => shownColumns.has(index) && !shown.includes(index)
      const hidden = columns.filter((_, index) => isHidden(index)).map(({ title }) => title)
      return { shown, titles, rows: rows.map(within), hidden }
    }
    shown = shown.filter(index => index !== dropped)
  }
}
