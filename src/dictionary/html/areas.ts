/** Subject areas: what the service has, the tables it becomes, and how they refer to each other. */
import { areaDrawing } from '../drawing/area-drawing.ts'
import { type Area, type Dictionary, qualifiedName } from '../entries.ts'
import { drawingSvg } from './drawing-svg.ts'
import { link } from './links.ts'
import { type Content, html, type Markup } from './markup.ts'
import { tabs } from './tabs.ts'

function body(dictionary: Dictionary, area: Area): Content {
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
): Markup => html`<section id="diagrams"><h2>Subject areas</h2><p>One diagram for each resource of the service: its record, the tables of its lists to the left, and the dimensions that they refer to. Keys are bold; a crow’s foot is where there are many.</p>${tabs(
  'Subject areas',
  dictionary.areas.map(area => ({
    id: `area.${area.resource}`,
    title: area.resource,
    body: body(dictionary, area),
  })),
  widest(dictionary),
)}</section>
`
