/**
 * Writes the dictionary as one HTML page without external requests: style and script are inline, and allowed by their
 * hashes.
 */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { counted } from '../../lib/counted.ts'
import { packageFile } from '../../lib/package.ts'
import { busMatrix, type DimensionReach } from '../bus-matrix.ts'
import { type ColumnEntry, type Dictionary, qualifiedName, usersOf } from '../entries.ts'
import type { StoredRows } from '../stored.ts'
import { minuteOf, privacyMeanings, schemaMeanings, schemaOrder } from '../wording.ts'
import { areasSection, lineageSection } from './diagrams.ts'
import { html, link, Markup, type MarkupContent } from './markup.ts'
import { type MartQuestion, questionsSection } from './questions.ts'
import { groupsOf, privacyTag, schemasSection } from './tables.ts'

function stateOf({ version }: Dictionary, stored: StoredRows | undefined): MarkupContent {
  if (!stored) return html`Declared by Muster ${version}; no warehouse was opened.`
  const since =
    stored.asOf === null ? 'nothing was synced yet' : html`as of <strong>${minuteOf(stored.asOf)}</strong>`
  return html`A ${stored.engine} warehouse, ${since}; declared by Muster ${version}.`
}

/** The columns of every table of a schema, taken from its first table that has them. */
function everyRow({ tables }: Dictionary, schema: 'star' | 'mart'): MarkupContent {
  const columns = tables
    .find(table => table.schema === schema && table.columns.some(one => one.isOfEveryRow))
    ?.columns.filter(({ isOfEveryRow }) => isOfEveryRow)
  return html`<table class="plain"><tbody>${columns?.map(
    ({ name, description }) => html`<tr><td><code>${name}</code></td><td>${description}</td></tr>`,
  )}</tbody></table>`
}

const cards = ({ tables }: Dictionary): MarkupContent =>
  schemaOrder.map(schema => {
    const own = tables.filter(table => table.schema === schema)
    const columns = own.reduce((sum, table) => sum + table.columns.length, 0)
    return html`<a class="card" href="#schema.${schema}"><strong>${schema}</strong><span class="figure">${counted(own.length, 'table')}, ${counted(columns, 'column')}</span><span>${schemaMeanings[schema]}</span></a>`
  })

const privacyLegend = (): MarkupContent =>
  Object.entries(privacyMeanings).map(
    ([privacy, meaning]) =>
      html`<tr><td>${privacyTag({ privacy: privacy as ColumnEntry['privacy'] })}</td><td>${meaning}</td></tr>`,
  )

const overview = (
  dictionary: Dictionary,
  stored: StoredRows | undefined,
): Markup => html`<section id="overview"><h1>Warehouse dictionary</h1><p class="lead">${stateOf(dictionary, stored)}</p><div class="cards">${cards(dictionary)}</div></section>
<section id="reading"><h2>How to read it</h2><div class="columns-of-two"><div><h3>Privacy</h3><table class="plain"><tbody>${privacyLegend()}</tbody></table></div><div id="every-row"><h3>On every row of star, pii and history</h3>${everyRow(dictionary, 'star')}<h3>On every row of a mart</h3>${everyRow(dictionary, 'mart')}</div></div><p>The first sentence of a table says what one row is. <code>'-1'</code> is the member of every dimension that stands for “the record names none”, so that no join loses a row. A field such as <code>timesheet.worker.id</code> is the record of the service and the path inside it; <code>[]</code> is each element of a list. An id is the service’s own.</p></section>
`

const symbols: Readonly<Record<DimensionReach, MarkupContent>> = {
  direct: html`<span class="direct" title="direct">●</span>`,
  through: html`<span class="through" title="through its record">○</span>`,
  none: undefined,
}

const bare = (name: string): string => name.replace(/^star\.(dim_|fact_)?/, '')

function matrixSection(dictionary: Dictionary): Markup {
  const { dimensions, facts } = busMatrix(dictionary)
  return html`<section id="matrix"><h2>Bus matrix</h2><p>Dimensions by which each fact can be analysed: <span class="direct">●</span> by a column of its own, <span class="through">○</span> through the record that its rows belong to.</p><div class="scroll" tabindex="0"><table class="matrix"><thead><tr><th></th>${dimensions.map(
    name => html`<th scope="col"><span>${link(name, bare(name))}</span></th>`,
  )}</tr></thead><tbody>${facts.map(
    ({ table, reach }) =>
      html`<tr><th scope="row">${link(table, bare(table))}</th>${reach.map(one => html`<td>${symbols[one]}</td>`)}</tr>`,
  )}</tbody></table></div></section>
`
}

const asset = (name: string): string => readFileSync(packageFile(`assets/dictionary/${name}`), 'utf8')

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

function head(style: string, script: string): Markup {
  const policy = `default-src 'none'; style-src ${hashOf(style)}; script-src ${hashOf(script)}; base-uri 'none'; form-action 'none'`
  return html`<head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="referrer" content="no-referrer"><title>Warehouse dictionary</title><style>${new Markup(style)}</style></head>`
}

const searchBox = html`<div class="search" role="search"><input id="search" type="search" placeholder="Search tables, columns, fields  ( / )" aria-label="Search" role="combobox" aria-expanded="false" aria-controls="results" aria-autocomplete="list" autocomplete="off" spellcheck="false"><ul id="results" role="listbox" aria-label="Results" hidden></ul></div>`

const topBar = html`<header class="top"><button id="menu" type="button" aria-label="Contents" aria-expanded="false" aria-controls="contents">☰</button><a class="brand" href="#overview">muster</a>${searchBox}<button id="theme" type="button" aria-label="Light or dark">◐</button></header>`

function sideBar(dictionary: Dictionary, hasQuestions: boolean): Markup {
  const tables: MarkupContent = schemaOrder.map(schema => {
    const groups = groupsOf(dictionary, schema).map(
      ([title, group]) =>
        html`${title && html`<li class="group">${title}</li>`}${group.map(
          table => html`<li><a href="#${qualifiedName(table)}">${table.name}</a></li>`,
        )}`,
    )
    return html`<details${schema === 'mart' || schema === 'star' ? new Markup(' open') : ''}><summary><a href="#schema.${schema}">${schema}</a></summary><ul>${groups}</ul></details>`
  })
  return html`<nav class="side" id="contents" aria-label="Contents"><ul class="parts"><li><a href="#overview">Overview</a></li>${hasQuestions && html`<li><a href="#questions">Questions</a></li>`}<li><a href="#diagrams">Subject areas</a></li><li><a href="#matrix">Bus matrix</a></li><li><a href="#lineage">Lineage</a></li></ul>${tables}</nav>`
}

/** Self-contained; every text of the dictionary is escaped. */
export function dictionaryPage(
  dictionary: Dictionary,
  stored?: StoredRows,
  questions: readonly MartQuestion[] = [],
): string {
  const style = asset('page.css')
  const script = asset('page.js')
  const context = { users: usersOf(dictionary), ...(stored && { stored }) }
  const main = html`<main id="content">${overview(dictionary, stored)}${questionsSection(questions)}${areasSection(dictionary)}${matrixSection(dictionary)}${lineageSection(dictionary)}${schemasSection(dictionary, context)}</main>`
  const body = html`<body><a class="skip" href="#content">To the content</a>${topBar}<div class="frame">${sideBar(dictionary, questions.length > 0)}${main}</div><script>${new Markup(script)}</script></body>`
  return `<!doctype html>\n${html`<html lang="en">${head(style, script)}${body}</html>`.text}\n`
}
