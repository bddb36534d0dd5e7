/** Writes the tables of each schema with their columns. */
import { counted, formatNumber } from '../../lib/counted.ts'
import { type ColumnEntry, type Dictionary, qualifiedName, type TableEntry } from '../entries.ts'
import type { StoredRows } from '../stored.ts'
import {
  currentOf,
  described,
  isHistory,
  kindOf,
  madeWords,
  minuteOf,
  privacyNames,
  schemaMeanings,
  schemaOrder,
} from '../wording.ts'
import { breakable, few, html, link, type Markup, type MarkupContent } from './markup.ts'

export interface SectionContext {
  readonly users: ReadonlyMap<string, readonly string[]>
  readonly stored?: StoredRows
}

const code = (text: string): Markup => html`<code>${breakable(text)}</code>`

function sourceOf({ fields, made, from }: ColumnEntry): MarkupContent {
  if (from.length > 0) return few(from.map(name => link(name)))
  const word = made && html`<span class="made">${madeWords[made]}</span> `
  return [word, few(fields.map(code))]
}

function usedBy(users: readonly string[]): MarkupContent {
  if (users.length === 0) return undefined
  return html`<details class="more used"><summary>used by ${counted(users.length, 'column')}</summary><ul class="few">${users.map(
    name => html`<li>${link(name)}</li>`,
  )}</ul></details>`
}

export function privacyTag({ privacy }: Pick<ColumnEntry, 'privacy'>): Markup {
  return html`<span class="privacy ${privacy.replace(' ', '-')}">${privacyNames[privacy]}</span>`
}

function columnRow(table: string, column: ColumnEntry, { users }: SectionContext): Markup {
  const { name, type, unit, description, isKey, refersTo, values, treatment } = column
  const id = `${table}.${name}`
  return html`<tr id="${id}" data-column="${name}"><th scope="row"><a class="name" href="#${id}">${breakable(name)}</a>${
    isKey && html` <span class="tag key">key</span>`
  }${
    refersTo &&
    html`<span class="reference">${link(`${refersTo.table}.${refersTo.column}`, refersTo.table.replace(/^star\./, ''))}</span>`
  }</th><td><span class="type">${type}</span>${unit && html`<span class="unit">${unit}</span>`}</td><td>${description}${
    values.length > 0 &&
    html`<span class="values">${values.map(value => html`<code>${value}</code> `)}</span>`
  }</td><td>${privacyTag(column)}${treatment && html` <span class="tag">${treatment}</span>`}</td><td class="source">${sourceOf(column)}${usedBy(users.get(id) ?? [])}</td></tr>`
}

function everyRow(columns: readonly ColumnEntry[], { schema, name }: TableEntry): MarkupContent {
  if (columns.length === 0) return undefined
  return html`<p class="every-row">and the <a href="#every-row">${columns.length} columns of every ${schema === 'mart' ? 'mart' : 'row'}</a>: ${columns.map(
    ({ name: column }, index) =>
      html`${index > 0 && ', '}<code id="${schema}.${name}.${column}">${column}</code>`,
  )}</p>`
}

function facts(table: TableEntry, { stored, users }: SectionContext): MarkupContent {
  const name = qualifiedName(table)
  const rows = stored?.rows.get(name)
  const asOf = stored?.martAsOf.get(name)
  const counters = users.get(name) ?? []
  const entries: [string, MarkupContent][] = [
    ['rows', rows !== undefined && formatNumber(rows)],
    ['rows', stored && table.kind === 'table' && rows === undefined && 'not created yet'],
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

function tableSection(table: TableEntry, context: SectionContext): Markup {
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

const kinds = ['fact', 'dimension', 'bridge', 'view', 'table']

const plural = (kind: string): string => (kind === 'bridge' ? 'bridges' : `${kind}s`)

/** Groups of a schema under headings of their own; one group has none. */
export function groupsOf(
  dictionary: Dictionary,
  schema: TableEntry['schema'],
): (readonly [string, readonly TableEntry[]])[] {
  const tables = described(dictionary, schema)
  if (schema !== 'star') return tables.length > 0 ? [['', tables]] : []
  return kinds
    .map(kind => [plural(kind), tables.filter(table => kindOf(table) === kind)] as const)
    .filter(([, group]) => group.length > 0)
}

function historyRow(table: TableEntry, { stored }: SectionContext): Markup {
  const name = qualifiedName(table)
  const rows = stored?.rows.get(name)
  return html`<tr id="${name}" data-table="${name}"><th scope="row"><a class="name" href="#${name}">${table.name}</a></th><td>${link(currentOf(table))}, <code>valid_from</code>, <code>valid_to</code></td><td class="number">${rows !== undefined && formatNumber(rows)}</td></tr>`
}

function histories(
  dictionary: Dictionary,
  schema: TableEntry['schema'],
  context: SectionContext,
): MarkupContent {
  const tables = dictionary.tables.filter(table => table.schema === schema && isHistory(table))
  if (tables.length === 0) return undefined
  return html`<p>Superseded versions: the columns of the table named, and the time for which each version was valid. <code>valid_from</code> is the time of the source’s change, else of the fetch; <code>valid_to</code> is the change that replaced it.</p><div class="scroll"><table class="columns histories"><thead><tr><th>table</th><th>columns of</th><th class="number">rows</th></tr></thead><tbody>${tables.map(
    table => historyRow(table, context),
  )}</tbody></table></div>`
}

export const schemasSection = (dictionary: Dictionary, context: SectionContext): Markup =>
  html`${schemaOrder.map(schema => {
    const all = dictionary.tables.filter(table => table.schema === schema)
    return html`<section class="schema" id="schema.${schema}"><h2>${schema} <small>${counted(all.length, 'table')}</small></h2><p>${schemaMeanings[schema]}</p>${groupsOf(
      dictionary,
      schema,
    ).map(
      ([title, tables]) =>
        html`${title && html`<h3>${title}</h3>`}${tables.map(table => tableSection(table, context))}`,
    )}${histories(dictionary, schema, context)}</section>
`
  })}`
