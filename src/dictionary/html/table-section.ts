/** One table with its columns. */
import { counted, formatNumber } from '../../lib/counted.ts'
import { type ColumnEntry, qualifiedName, type TableEntry } from '../entries.ts'
import type { Held } from '../held.ts'
import { kindOf, madeWords, minuteOf, privacyNames } from '../wording.ts'
import { breakable, few, link } from './links.ts'
import { type Content, html, type Markup } from './markup.ts'

export interface SectionContext {
  readonly users: ReadonlyMap<string, readonly string[]>
  readonly held?: Held
}

const code = (text: string): Markup => html`<code>${breakable(text)}</code>`

function sourceOf({ fields, made, from }: ColumnEntry): Content {
  if (from.length > 0) return few(from.map(name => link(name)))
  const word = made && html`<span class="made">${madeWords[made]}</span> `
  return [word, few(fields.map(code))]
}

function usedBy(users: readonly string[]): Content {
  if (users.length === 0) return undefined
  return html`<details class="more used"><summary>used by ${counted(users.length, 'column')}</summary><ul class="few">${users.map(
    name => html`<li>${link(name)}</li>`,
  )}</ul></details>`
}

export function privacyTag({ privacy }: Pick<ColumnEntry, 'privacy'>): Markup {
  return html`<span class="privacy ${privacy.replace(' ', '-')}">${privacyNames[privacy]}</span>`
}

function columnRow(table: string, column: ColumnEntry, { users }: SectionContext): Markup {
  const { name, type, unit, description, isKey, refersTo, values } = column
  const id = `${table}.${name}`
  return html`<tr id="${id}" data-column="${name}"><th scope="row"><a class="name" href="#${id}">${breakable(name)}</a>${
    isKey && html` <span class="tag key">key</span>`
  }${
    refersTo &&
    html`<span class="reference">${link(`${refersTo.table}.${refersTo.column}`, refersTo.table.replace(/^star\./, ''))}</span>`
  }</th><td><span class="type">${type}</span>${unit && html`<span class="unit">${unit}</span>`}</td><td>${description}${
    values.length > 0 &&
    html`<span class="values">${values.map(value => html`<code>${value}</code> `)}</span>`
  }</td><td>${privacyTag(column)}</td><td class="source">${sourceOf(column)}${usedBy(users.get(id) ?? [])}</td></tr>`
}

function everyRow(columns: readonly ColumnEntry[], { schema, name }: TableEntry): Content {
  if (columns.length === 0) return undefined
  return html`<p class="every-row">and the <a href="#every-row">${columns.length} columns of every ${schema === 'mart' ? 'mart' : 'row'}</a>: ${columns.map(
    ({ name: column }, index) =>
      html`${index > 0 && ', '}<code id="${schema}.${name}.${column}">${column}</code>`,
  )}</p>`
}

function facts(table: TableEntry, { held, users }: SectionContext): Content {
  const name = qualifiedName(table)
  const rows = held?.rows.get(name)
  const asOf = held?.martAsOf.get(name)
  const counters = users.get(name) ?? []
  const entries: [string, Content][] = [
    ['rows', rows !== undefined && formatNumber(rows)],
    ['rows', held && table.kind === 'table' && rows === undefined && 'not made yet'],
    ['as of', asOf && minuteOf(asOf)],
    ['answers', table.question],
    ['assumes', table.assumption],
    [
      'from',
      table.resources.length > 0 &&
        table.resources.map((one, index) => [index > 0 && ', ', link(`area.${one}`, one)]),
    ],
    ['reads', table.reads.length > 0 && table.reads.map((one, index) => [index > 0 && ', ', link(one)])],
    ['rows counted by', counters.length > 0 && counters.map((one, index) => [index > 0 && ', ', link(one)])],
    ['lineage', table.schema === 'mart' && link(`lineage.${table.name}`, 'diagram and fields')],
  ]
  return html`<dl class="facts">${entries
    .filter(([, value]) => value !== false && value !== undefined && value !== '')
    .map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>`
}

export function tableSection(table: TableEntry, context: SectionContext): Markup {
  const name = qualifiedName(table)
  const own = table.columns.filter(({ isOfEveryRow }) => !isOfEveryRow)
  return html`<section class="table" id="${name}" data-table="${name}"><h4><a href="#${name}"><span class="schema">${table.schema}.</span>${table.name}</a>${kindOf(table) !== 'table' && html` <span class="tag">${kindOf(table)}</span>`}${
    !table.isPublished && html` <span class="tag closed">not published</span>`
  }</h4><p class="description">${table.description}</p>${facts(table, context)}<div class="scroll"><table class="columns"><thead><tr><th>column</th><th>type</th><th>description</th><th>privacy</th><th>comes from</th></tr></thead><tbody>${own.map(
    column => columnRow(name, column, context),
  )}</tbody></table></div>${everyRow(
    table.columns.filter(({ isOfEveryRow }) => isOfEveryRow),
    table,
  )}</section>
`
}
