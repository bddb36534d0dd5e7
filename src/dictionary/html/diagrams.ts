/** Writes the diagrams of the page, one at a time in tabs: subject areas, and the lineage of each mart. */

import { areaDrawing, martDrawing } from '../drawings.ts'
import { type Area, type ColumnEntry, type Dictionary, qualifiedName, type TableEntry } from '../entries.ts'
import { type Drawing, layOut, type PlacedBox, type PlacedLink, rowHeight, titleHeight } from '../layout.ts'
import { breakable, few, html, link, type Markup, type MarkupContent } from './markup.ts'

export interface Tab {
  /** Id on the page. */
  readonly id: string
  readonly title: string
  readonly body: MarkupContent
}

/** `first`: id of the tab to show first; by default the first in the list. */
const tabs = (label: string, all: readonly Tab[], first = all[0]?.id ?? ''): Markup =>
  html`<div class="tabs" data-tabs="${first}"><div class="tab-list" role="tablist" aria-label="${label}">${all.map(
    ({ id, title }) =>
      html`<a role="tab" href="#${id}" id="tab.${id}" aria-controls="${id}" data-tab="${id}">${title}</a>`,
  )}</div>${all.map(
    ({ id, title, body }) =>
      html`<section class="tab" role="tabpanel" id="${id}" aria-labelledby="tab.${id}"><h3>${title}</h3>${body}</section>
`,
  )}</div>`

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

/** A curve with a crow's foot at the end with many rows. */
function linkSvg({ from, to, row, x1, y1, x2, y2 }: PlacedLink): Markup {
  const ahead = x2 > x1 ? 1 : -1
  const bend = Math.abs(x2 - x1) / 2
  const foot = row === undefined ? '' : `M${x1} ${y1 - 5}l${9 * ahead} 5l${-9 * ahead} 5`
  const bar = row === undefined ? '' : `M${x2 - 7 * ahead} ${y2 - 5}v10`
  const curve = `M${x1} ${y1}C${x1 + bend * ahead} ${y1} ${x2 - bend * ahead} ${y2} ${x2} ${y2}`
  return html`<path class="link" data-from="${from}" data-to="${to}" d="${curve}${foot}${bar}"/>`
}

/** `label` describes the drawing for screen readers. */
function drawingSvg(drawing: Drawing, label: string): Markup {
  const { boxes, links, width, height } = layOut(drawing)
  return html`<div class="drawing" tabindex="0"><svg role="img" aria-label="${label}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${links.map(linkSvg)}${boxes.map(boxSvg)}</svg></div>`
}

function areaBody(dictionary: Dictionary, area: Area): MarkupContent {
  return html`<p>${area.description} <code>GET ${area.path}</code></p><p class="names">${area.tables.map(
    (name, index) => html`${index > 0 && ' · '}${link(name, name.replace(/^star\./, ''))}`,
  )}</p>${drawingSvg(areaDrawing(dictionary, area), `Tables of ${area.resource} and the dimensions they refer to`)}`
}

/** The record with the most columns: the middle of the warehouse. */
function widest({ areas, tables }: Dictionary): string {
  const columns = new Map(tables.map(table => [qualifiedName(table), table.columns.length]))
  const width = ({ tables: [root] }: Area): number => columns.get(root ?? '') ?? 0
  const [first] = areas.toSorted((one, other) => width(other) - width(one))
  return `area.${first?.resource}`
}

export const areasSection = (
  dictionary: Dictionary,
): Markup => html`<section id="diagrams"><h2>Subject areas</h2><p>One diagram for each resource of the service: its record, the tables of its lists to the left, and the dimensions that they refer to. Keys are bold; a crow’s foot marks the end with many rows.</p>${tabs(
  'Subject areas',
  dictionary.areas.map(area => ({
    id: `area.${area.resource}`,
    title: area.resource,
    body: areaBody(dictionary, area),
  })),
  widest(dictionary),
)}</section>
`

function columnRow(mart: string, { name, from, fields }: ColumnEntry): Markup {
  return html`<tr><td>${few(fields.map(field => html`<code>${breakable(field)}</code>`))}</td><td>${few(from.map(one => link(one)))}</td><td>${link(`${mart}.${name}`, name)}</td></tr>`
}

function lineageBody(dictionary: Dictionary, mart: TableEntry): MarkupContent {
  const name = qualifiedName(mart)
  const own = mart.columns.filter(({ isOfEveryRow }) => !isOfEveryRow)
  return html`<p>${mart.question} ${link(name)}</p>${drawingSvg(martDrawing(dictionary, mart), `What ${name} is computed from`)}<div class="scroll"><table class="columns lineage"><thead><tr><th>field of the service</th><th>column that is read</th><th>column of the mart</th></tr></thead><tbody>${own.map(
    column => columnRow(name, column),
  )}</tbody></table></div>`
}

export function lineageSection(dictionary: Dictionary): Markup {
  const marts = dictionary.tables.filter(({ schema }) => schema === 'mart')
  return html`<section id="lineage"><h2>Lineage</h2><p>From the fields of the service through the columns that a mart’s SQL reads to the columns of the mart, taken from the parsed SQL. Conditions and joins only select rows and are not listed here.</p>${tabs(
    'Marts',
    marts.map(mart => ({
      id: `lineage.${mart.name}`,
      title: mart.name,
      body: lineageBody(dictionary, mart),
    })),
  )}</section>
`
}
