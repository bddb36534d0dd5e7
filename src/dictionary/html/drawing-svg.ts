/** A drawing as SVG: coloured by classes of the page, with titles that lead to the tables. */
import {
  type Drawing,
  layOut,
  type PlacedBox,
  type PlacedLink,
  rowHeight,
  titleHeight,
} from '../drawing/drawing.ts'
import { html, type Markup } from './markup.ts'

const titleOf = ({ title, href, x, y }: PlacedBox): Markup => {
  const text = html`<text class="title" x="${x + 12}" y="${y + 18.5}">${title}</text>`
  return href === undefined ? text : html`<a href="#${href}">${text}</a>`
}

function boxSvg(box: PlacedBox): Markup {
  const { x, y, width, height, rows, footer, role } = box
  const line = (index: number): number => y + titleHeight + 3 + index * rowHeight + 13.5
  const below = height > titleHeight
  return html`<g class="box ${role}" data-box="${box.id}"><rect class="body" x="${x}" y="${y}" width="${width}" height="${height}" rx="7"/>${
    below && html`<path class="rule" d="M${x} ${y + titleHeight}h${width}"/>`
  }${titleOf(box)}${rows.map(
    ({ text, isKey }, index) =>
      html`<text class="${isKey ? 'row key' : 'row'}" x="${x + 12}" y="${line(index)}">${text}</text>`,
  )}${
    footer !== undefined && html`<text class="footer" x="${x + 12}" y="${line(rows.length)}">${footer}</text>`
  }</g>`
}

/** A curve with a crow's foot where there are many. */
function linkSvg({ from, to, row, x1, y1, x2, y2 }: PlacedLink): Markup {
  const ahead = x2 > x1 ? 1 : -1
  const bend = Math.abs(x2 - x1) / 2
  const foot = row === undefined ? '' : `M${x1} ${y1 - 5}l${9 * ahead} 5l${-9 * ahead} 5`
  const bar = row === undefined ? '' : `M${x2 - 7 * ahead} ${y2 - 5}v10`
  const curve = `M${x1} ${y1}C${x1 + bend * ahead} ${y1} ${x2 - bend * ahead} ${y2} ${x2} ${y2}`
  return html`<path class="link" data-from="${from}" data-to="${to}" d="${curve}${foot}${bar}"/>`
}

/** `label` says to those who cannot see it what it shows. */
export function drawingSvg(drawing: Drawing, label: string): Markup {
  const { boxes, links, width, height } = layOut(drawing)
  return html`<div class="drawing" tabindex="0"><svg role="img" aria-label="${label}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${links.map(linkSvg)}${boxes.map(boxSvg)}</svg></div>`
}
