/** Writes the questions that the marts answer, each with its SQL to copy and example rows. */
import { html, link, type Markup } from './markup.ts'

type ExampleValue = string | number | boolean | null

export interface Example {
  readonly columns: readonly string[]
  /** Rows of made-up data. */
  readonly rows: readonly (readonly ExampleValue[])[]
}

export interface MartQuestion {
  /** Without its schema. */
  readonly mart: string
  readonly question: string
  readonly sql: string
  readonly example?: Example
}

const rowOf = (values: readonly ExampleValue[]): Markup =>
  html`<tr>${values.map(value => html`<td>${value === null ? '–' : String(value)}</td>`)}</tr>`

const exampleOf = ({ columns, rows }: Example): Markup =>
  html`<p class="example">Example rows, of made-up data</p><div class="scroll" tabindex="0"><table class="plain rows"><thead><tr>${columns.map(
    name => html`<th scope="col">${name}</th>`,
  )}</tr></thead><tbody>${rows.map(rowOf)}</tbody></table></div>`

const questionOf = ({ mart, question, sql, example }: MartQuestion): Markup =>
  html`<details class="question" id="question.${mart}"><summary>${question}</summary><p>From ${link(`mart.${mart}`)}</p><div class="sql"><button type="button" class="copy" data-copy aria-label="Copy the SQL of mart.${mart}">Copy</button><pre tabindex="0"><code>${sql}</code></pre></div>${
    example && example.rows.length > 0 && exampleOf(example)
  }</details>
`

export const questionsSection = (questions: readonly MartQuestion[]): Markup | undefined =>
  questions.length === 0
    ? undefined
    : html`<section id="questions"><h2>Questions <small>${questions.length}, with their SQL</small></h2><p>Each is answered by one mart. <code>muster sql</code> runs the statement as it stands.</p>${questions.map(questionOf)}</section>
`
