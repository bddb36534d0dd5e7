/** Lineage of each mart: where its rows come from as a diagram, and each column back to fields of the service. */

import { martDrawing } from '../drawing/mart-drawing.ts'
import { type ColumnEntry, type Dictionary, qualifiedName, type TableEntry } from '../entries.ts'
import { drawingSvg } from './drawing-svg.ts'
import { breakable, few, link } from './links.ts'
import { type Content, html, type Markup } from './markup.ts'
import { tabs } from './tabs.ts'

function columnRow(mart: string, { name, from, fields }: ColumnEntry): Markup {
  return html`<tr><td>${few(fields.map(field => html`<code>${breakable(field)}</code>`))}</td><td>${few(from.map(one => link(one)))}</td><td>${link(`${mart}.${name}`, name)}</td></tr>`
}

function body(dictionary: Dictionary, mart: TableEntry): Content {
  const name = qualifiedName(mart)
  const own = mart.columns.filter(({ isOfEveryRow }) => !isOfEveryRow)
  return html`<p>${mart.question} ${link(name)}</p>${drawingSvg(martDrawing(dictionary, mart), `What ${name} is computed from`)}<div class="scroll"><table class="columns lineage"><thead><tr><th>field of the service</th><th>column that is read</th><th>column of the mart</th></tr></thead><tbody>${own.map(
    column => columnRow(name, column),
  )}</tbody></table></div>`
}

export function lineageSection(dictionary: Dictionary): Markup {
  const marts = dictionary.tables.filter(({ schema }) => schema === 'mart')
  return html`<section id="lineage"><h2>Lineage</h2><p>From the fields of the service over the columns that a mart’s SQL reads to the columns of the mart, read from the parsed SQL. Conditions and joins decide which rows there are and are not listed here.</p>${tabs(
    'Marts',
    marts.map(mart => ({ id: `lineage.${mart.name}`, title: mart.name, body: body(dictionary, mart) })),
  )}</section>
`
}
