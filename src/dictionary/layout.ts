/** Lays out a drawing: boxes in columns, with links between neighbours. All lengths are pixels. */
import { Graph, layout } from '@dagrejs/dagre'

export interface TableBox {
  /** Unique in its drawing. */
  readonly id: string
  readonly title: string
  /** Name of the table that the title links to, if the page has it. */
  readonly href?: string
  readonly rows: readonly { readonly text: string; readonly isKey: boolean }[]
  readonly footer?: string
  /** Decides the colour. */
  readonly role: 'subject' | 'list' | 'dimension' | 'resource' | 'mart'
}

/** From a row of one box to another box, in the next column on either side. */
export interface BoxLink {
  readonly from: string
  /** Index of the row; the title when there is none. */
  readonly row?: number
  readonly to: string
}

export interface Drawing {
  readonly columns: readonly (readonly TableBox[])[]
  readonly links: readonly BoxLink[]
}

export interface PlacedBox extends TableBox {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export interface PlacedLink extends BoxLink {
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
/** Gap between columns, for the curves. */
const gapBeside = 96
/** Width of a monospaced character at 12 pixels, with a margin, as fonts differ. */
const characterWidth = 7.4

const heightOf = ({ rows, footer }: TableBox): number => {
  const lines = rows.length + (footer === undefined ? 0 : 1)
  return titleHeight + lines * rowHeight + (lines > 0 ? 6 : 0)
}

const widthOf = ({ title, rows, footer }: TableBox): number => {
  const longest = Math.max(title.length + 1, footer?.length ?? 0, ...rows.map(({ text }) => text.length))
  return Math.round(longest * characterWidth + 24)
}

/** Middle of a row, or of the title, below the top of its box. */
const rowMiddle = (row: number | undefined): number =>
  row === undefined ? titleHeight / 2 : titleHeight + 3 + (row + 0.5) * rowHeight

function placeLinks(links: readonly BoxLink[], boxes: ReadonlyMap<string, PlacedBox>): PlacedLink[] {
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

/** Columns are ranks, as every link leads to a neighbour; boxes of one column are equally wide. */
function graphOf({ columns, links }: Drawing): Graph {
  const graph = new Graph({ multigraph: true })
  graph.setGraph({
    ...{ rankdir: 'LR', ranksep: gapBeside, nodesep: gapBelow },
    ...{ marginx: margin, marginy: margin },
  })
  const columnOf = new Map<string, number>()
  for (const [index, column] of columns.entries()) {
    const width = Math.max(...column.map(widthOf))
    for (const box of column) {
      columnOf.set(box.id, index)
      graph.setNode(box.id, { width, height: heightOf(box) })
    }
  }
  const at = (id: string): number => columnOf.get(id) ?? 0
  for (const [index, { from, to }] of links.entries()) {
    const [left, right] = at(from) < at(to) ? [from, to] : [to, from]
    graph.setEdge(left, right, {}, String(index))
  }
  return graph
}

export function layOut(drawing: Drawing): Layout {
  const graph = graphOf(drawing)
  layout(graph)
  const boxes = drawing.columns.flat().map((box): PlacedBox => {
    const { x, y, width, height } = graph.node(box.id)
    return { ...box, x: Math.round(x - width / 2), y: Math.round(y - height / 2), width, height }
  })
  const { width = 0, height = 0 } = graph.graph()
  const links = placeLinks(drawing.links, new Map(boxes.map(box => [box.id, box])))
  return { boxes, links, width: Math.ceil(width), height: Math.ceil(height) }
}
