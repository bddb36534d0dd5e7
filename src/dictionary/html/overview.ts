/** The beginning of the page: counts, currency, how to read it, and the bus matrix. */
import { counted } from '../../lib/counted.ts'
import { busMatrix, type Reach } from '../bus-matrix.ts'
import type { ColumnEntry, Dictionary } from '../entries.ts'
import type { StoredRows } from '../stored.ts'
import { minuteOf, privacyMeanings, schemaMeanings, schemaOrder } from '../wording.ts'
import { type Content, html, link, type Markup } from './markup.ts'
import { privacyTag } from './tables.ts'

function stateOf({ version }: Dictionary, stored: StoredRows | undefined): Content {
  if (!stored) return html`Declared by Muster ${version}; no warehouse was opened.`
  const since =
    stored.asOf === null ? 'nothing was synced yet' : html`as of <strong>${minuteOf(stored.asOf)}</strong>`
  return html`A ${stored.engine} warehouse, ${since}; declared by Muster ${version}.`
}

/** The columns of every table of a schema, taken from its first table that has them. */
function everyRow({ tables }: Dictionary, schema: 'star' | 'mart'): Content {
  const columns = tables
    .find(table => table.schema === schema && table.columns.some(one => one.isOfEveryRow))
    ?.columns.filter(({ isOfEveryRow }) => isOfEveryRow)
  return html`<table class="plain"><tbody>${columns?.map(
    ({ name, description }) => html`<tr><td><code>${name}</code></td><td>${description}</td></tr>`,
  )}</tbody></table>`
}

const cards = ({ tables }: Dictionary): Content =>
  schemaOrder.map(schema => {
    const own = tables.filter(table => table.schema === schema)
    const columns = own.reduce((sum, table) => sum + table.columns.length, 0)
    return html`<a class="card" href="#schema.${schema}"><strong>${schema}</strong><span class="figure">${counted(own.length, 'table')}, ${counted(columns, 'column')}</span><span>${schemaMeanings[schema]}</span></a>`
  })

const privacyLegend = (): Content =>
  Object.entries(privacyMeanings).map(
    ([privacy, meaning]) =>
      html`<tr><td>${privacyTag({ privacy: privacy as ColumnEntry['privacy'] })}</td><td>${meaning}</td></tr>`,
  )

export const overview = (
  dictionary: Dictionary,
  stored: StoredRows | undefined,
): Markup => html`<section id="overview"><h1>Warehouse dictionary</h1><p class="lead">${stateOf(dictionary, stored)}</p><div class="cards">${cards(dictionary)}</div></section>
<section id="reading"><h2>How to read it</h2><div class="columns-of-two"><div><h3>Privacy</h3><table class="plain"><tbody>${privacyLegend()}</tbody></table></div><div id="every-row"><h3>On every row of star, pii and history</h3>${everyRow(dictionary, 'star')}<h3>On every row of a mart</h3>${everyRow(dictionary, 'mart')}</div></div><p>The first sentence of a table says what one row is. <code>'-1'</code> is the member of every dimension that stands for “the record names none”, so that no join loses a row. A field such as <code>timesheet.worker.id</code> is the record of the service and the path inside it; <code>[]</code> is each element of a list. An id is the service’s own.</p></section>
`

const symbols: Readonly<Record<Reach, Content>> = {
  direct: html`<span class="direct" title="direct">●</span>`,
  through: html`<span class="through" title="through its record">○</span>`,
  none: undefined,
}

const bare = (name: string): string => name.replace(/^star\.(dim_|fact_)?/, '')

export function matrixSection(dictionary: Dictionary): Markup {
  const { dimensions, facts } = busMatrix(dictionary)
  return html`<section id="matrix"><h2>Bus matrix</h2><p>By what each fact can be cut: <span class="direct">●</span> by a column of its own, <span class="through">○</span> through the record that its rows belong to.</p><div class="scroll" tabindex="0"><table class="matrix"><thead><tr><th></th>${dimensions.map(
    name => html`<th scope="col"><span>${link(name, bare(name))}</span></th>`,
  )}</tr></thead><tbody>${facts.map(
    ({ table, reach }) =>
      html`<tr><th scope="row">${link(table, bare(table))}</th>${reach.map(one => html`<td>${symbols[one]}</td>`)}</tr>`,
  )}</tbody></table></div></section>
`
}
