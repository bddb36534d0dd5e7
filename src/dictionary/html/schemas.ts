/** Every table, by schema; superseded versions as a list, since their columns are those of what they are versions of. */
import { counted, formatNumber } from '../../lib/counted.ts'
import { type Dictionary, qualifiedName, type TableEntry } from '../entries.ts'
import { currentOf, described, isHistory, kindOf, schemaMeanings, schemaOrder } from '../wording.ts'
import { link } from './links.ts'
import { type Content, html, type Markup } from './markup.ts'
import { type SectionContext, tableSection } from './table-section.ts'

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

function historyRow(table: TableEntry, { held }: SectionContext): Markup {
  const name = qualifiedName(table)
  const rows = held?.rows.get(name)
  return html`<tr id="${name}" data-table="${name}"><th scope="row"><a class="name" href="#${name}">${table.name}</a></th><td>${link(currentOf(table))}, <code>valid_from</code>, <code>valid_to</code></td><td class="number">${rows !== undefined && formatNumber(rows)}</td></tr>`
}

function histories(dictionary: Dictionary, schema: TableEntry['schema'], context: SectionContext): Content {
  const tables = dictionary.tables.filter(table => table.schema === schema && isHistory(table))
  if (tables.length === 0) return undefined
  return html`<p>Superseded versions: the columns of the table named, and until when each version held. <code>valid_from</code> is the source’s change, else when it was fetched; <code>valid_to</code> is the change that replaced it.</p><div class="scroll"><table class="columns histories"><thead><tr><th>table</th><th>columns of</th><th class="number">rows</th></tr></thead><tbody>${tables.map(
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
