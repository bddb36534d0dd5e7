/** The bus matrix as a table with one column a dimension. */
import { busMatrix, type Reach } from '../bus-matrix.ts'
import type { Dictionary } from '../entries.ts'
import { link } from './links.ts'
import { type Content, html, type Markup } from './markup.ts'

const marks: Readonly<Record<Reach, Content>> = {
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
      html`<tr><th scope="row">${link(table, bare(table))}</th>${reach.map(one => html`<td>${marks[one]}</td>`)}</tr>`,
  )}</tbody></table></div></section>
`
}
