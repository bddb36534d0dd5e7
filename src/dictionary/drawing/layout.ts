/** The layout of a drawing: boxes in columns, with links between neighbours. All lengths are pixels. */

export interface Box {
  /** Unique in its drawing. */
  readonly id: string
  readonly title: string
  /** Name of the table that the title leads to, when it has a place on the page. */
  readonly href?: string
  readonly rows: readonly { readonly text: string; readonly isKey: boolean }[]
  readonly footer?: string
  /** How it is coloured. */
  readonly role: 'subject' | 'list' | 'dimension' | 'resource' | 'mart'
}

/** From a row of one box to another box, in the next column on either side. */
export interface Link {
  readonly from: string
  /** Index of the row; the title when there is none. */
  readonly row?: number
  readonly to: string
}

export interface Drawing {
  readonly columns: readonly (readonly Box[])[]
  readonly links: readonly Link[]
  /** Index of the column that the others are arranged around. */
  readonly anchor: number
}

export interface PlacedBox extends Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export interface PlacedLink extends Link {
  readonly x1: number
  readonly y1: number
  readonly x2: number
  readonly y2: number
}

export interface Layout {
  readonly boxes: readonly PlacedBox[]
  readonly links: readonly PlacedLink[]
  readonly width: number
  readonly height: number
}

export const titleHeight = 28
export const rowHeight = 19
const margin = 8
const gapBelow = 16
/** Room for the curves. */
const gapBeside = 96
/** Of a monospaced character at 12 pixels, with a margin, as fonts differ. */
const characterWidth = 7.4

const heightOf = ({ rows, footer }: Box): number => {
  const lines = rows.length + (footer === undefined ? 0 : 1)
  return titleHeight + lines * rowHeight + (lines > 0 ? 6 : 0)
}

const widthOf = ({ title, rows, footer }: Box): number => {
  const longest = Math.max(title.length + 1, footer?.length ?? 0, ...rows.map(({ text }) => text.length))
  return Math.round(longest * characterWidth + 24)
}

/** Middle of a row, or of the title, below the top of its box. */
const rowMiddle = (row: number | undefined): number =>
  row === undefined ? titleHeight / 2 : titleHeight + 3 + (row + 0.5) * rowHeight

/** Tops as close as possible to the preferred ones, in their order and without overlap. */
function stack(preferred: readonly { box: Box; top: number }[]): Map<string, number> {
  const tops = new Map<string, number>()
  let free = Number.NEGATIVE_INFINITY
  let drift = 0
  for (const { box, top } of preferred.toSorted((one, other) => one.top - other.top)) {
    const placed = Math.max(top, free)
    tops.set(box.id, placed)
    free = placed + heightOf(box) + gapBelow
    drift += placed - top
  }
  // Moving boxes apart moved them all down: shift them back by the average.
  const shift = preferred.length > 0 ? drift / preferred.length : 0
  return new Map([...tops].map(([id, top]) => [id, top - shift]))
}

/** The preferred top of a box: level with the rows that it is linked to in the column before. */
function preferredTop(box: Box, links: readonly Link[], tops: ReadonlyMap<string, number>): number {
  const levels = links.flatMap(({ from, row, to }) => {
    const source = to === box.id ? tops.get(from) : undefined
    if (source !== undefined) return [source + rowMiddle(row) - rowMiddle(undefined)]
    const target = from === box.id ? tops.get(to) : undefined
    return target === undefined ? [] : [target + rowMiddle(undefined) - heightOf(box) / 2]
  })
  return levels.length === 0 ? 0 : levels.reduce((sum, level) => sum + level, 0) / levels.length
}

function topsOf({ columns, links, anchor }: Drawing): ReadonlyMap<string, number> {
  const order = columns.map((_, index) => index).sort((a, b) => Math.abs(a - anchor) - Math.abs(b - anchor))
  const tops = new Map<string, number>()
  for (const index of order) {
    const preferred = (columns[index] ?? []).map(box => ({ box, top: preferredTop(box, links, tops) }))
    for (const [id, top] of stack(preferred)) tops.set(id, top)
  }
  return tops
}

function placeLinks(links: readonly Link[], boxes: ReadonlyMap<string, PlacedBox>): PlacedLink[] {
  return links.flatMap(link => {
    const from = boxes.get(link.from)
    const to = boxes.get(link.to)
    if (!from || !to) return []
    const isForward = to.x > from.x
    return [
      {
        ...link,
        x1: isForward ? from.x + from.width : from.x,
        y1: from.y + rowMiddle(link.row),
        x2: isForward ? to.x : to.x + to.width,
        y2: to.y + rowMiddle(undefined),
      },
    ]
  })
}

export function layOut(drawing: Drawing): Layout {
  const tops = topsOf(drawing)
  const highest = Math.min(...tops.values())
  const boxes: PlacedBox[] = []
  let x = margin
  for (const column of drawing.columns.filter(({ length }) => length > 0)) {
    const width = Math.max(...column.map(widthOf))
    for (const box of column) {
      const y = Math.round((tops.get(box.id) ?? 0) - highest + margin)
      boxes.push({ ...box, x, y, width, height: heightOf(box) })
    }
    x += width + gapBeside
  }
  return {
    boxes,
    links: placeLinks(drawing.links, new Map(boxes.map(box => [box.id, box]))),
    width: x - gapBeside + margin,
    height: Math.max(...boxes.map(({ y, height }) => y + height)) + margin,
  }
}
