/** The dictionary as one HTML page without external requests: style and script are inside, and allowed by their hashes. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { packageFile } from '../../lib/package.ts'
import { type Dictionary, qualifiedName, usersOf } from '../entries.ts'
import type { StoredRows } from '../stored.ts'
import { schemaOrder } from '../wording.ts'
import { areasSection, lineageSection } from './diagrams.ts'
import { type Content, html, Markup } from './markup.ts'
import { matrixSection, overview } from './overview.ts'
import { type Question, questionsSection } from './questions.ts'
import { groupsOf, schemasSection } from './tables.ts'

const asset = (name: string): string => readFileSync(packageFile(`assets/dictionary/${name}`), 'utf8')

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

function head(style: string, script: string): Markup {
  const policy = `default-src 'none'; style-src ${hashOf(style)}; script-src ${hashOf(script)}; base-uri 'none'; form-action 'none'`
  return html`<head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="referrer" content="no-referrer"><title>Warehouse dictionary</title><style>${new Markup(style)}</style></head>`
}

const searchBox = html`<div class="search" role="search"><input id="search" type="search" placeholder="Search tables, columns, fields  ( / )" aria-label="Search" role="combobox" aria-expanded="false" aria-controls="results" aria-autocomplete="list" autocomplete="off" spellcheck="false"><ul id="results" role="listbox" aria-label="Results" hidden></ul></div>`

const topBar = html`<header class="top"><button id="menu" type="button" aria-label="Contents" aria-expanded="false" aria-controls="contents">☰</button><a class="brand" href="#overview">muster</a>${searchBox}<button id="theme" type="button" aria-label="Light or dark">◐</button></header>`

function sideBar(dictionary: Dictionary, hasQuestions: boolean): Markup {
  const tables: Content = schemaOrder.map(schema => {
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
  questions: readonly Question[] = [],
): string {
  const style = asset('page.css')
  const script = asset('page.js')
  const context = { users: usersOf(dictionary), ...(stored && { stored }) }
  const main = html`<main id="content">${overview(dictionary, stored)}${questionsSection(questions)}${areasSection(dictionary)}${matrixSection(dictionary)}${lineageSection(dictionary)}${schemasSection(dictionary, context)}</main>`
  const body = html`<body><a class="skip" href="#content">To the content</a>${topBar}<div class="frame">${sideBar(dictionary, questions.length > 0)}${main}</div><script>${new Markup(script)}</script></body>`
  return `<!doctype html>\n${html`<html lang="en">${head(style, script)}${body}</html>`.text}\n`
}
