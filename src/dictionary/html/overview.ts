/** What the page begins with: what there is, until when, and how to read it. */
import { counted } from '../../lib/counted.ts'
import type { ColumnEntry, Dictionary } from '../entries.ts'
import type { Held } from '../held.ts'
import { minuteOf, privacyMeanings, schemaMeanings, schemaOrder } from '../wording.ts'
import { type Content, html, type Markup } from './markup.ts'
import { privacyTag } from './table-section.ts'

function stateOf({ version }: Dictionary, held: Held | undefined): Content {
  if (!held) return html`Declared by Muster ${version}; no warehouse was opened.`
  const since =
    held.asOf === null ? 'nothing was synced yet' : html`as of <strong>${minuteOf(held.asOf)}</strong>`
  return html`A ${held.engine} warehouse, ${since}; declared by Muster ${version}.`
}

/** What every table of a schema has, from the first table that has it. */
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
  held: Held | undefined,
): Markup => html`<section id="overview"><h1>Warehouse dictionary</h1><p class="lead">${stateOf(dictionary, held)}</p><div class="cards">${cards(dictionary)}</div></section>
<section id="reading"><h2>How to read it</h2><div class="columns-of-two"><div><h3>Privacy</h3><table class="plain"><tbody>${privacyLegend()}</tbody></table></div><div id="every-row"><h3>On every row of star, pii and history</h3>${everyRow(dictionary, 'star')}<h3>On every row of a mart</h3>${everyRow(dictionary, 'mart')}</div></div><p>The first sentence of a table says what one row is. <code>'-1'</code> is the member of every dimension that stands for “the record names none”, so that no join loses a row. A field such as <code>timesheet.worker.id</code> is the record of the service and the path inside it; <code>[]</code> is each element of a list. An id is the service’s own.</p></section>
`
