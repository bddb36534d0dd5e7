/** Links from one part of the page to another, and lists that do not grow too long. */
import { type Content, html, type Markup } from './markup.ts'

/** A name that may break after its dots and before its underscores, where readers expect it. */
export const breakable = (name: string): Content =>
  name.split(/(?<=\.)|(?=_)/).map((part, index) => html`${index > 0 && html`<wbr>`}${part}`)

/** To a table or a column by its qualified name; `text` is that name unless given. */
export const link = (name: string, text: string = name): Markup =>
  html`<a href="#${name}">${breakable(text)}</a>`

const shown = 3

/** The first few, and the rest behind a summary. */
export function few(items: readonly Content[]): Content {
  const rest = items.slice(shown)
  const list = (some: readonly Content[]): Content => some.map(item => html`<li>${item}</li>`)
  if (items.length === 0) return undefined
  // One more is no longer than the words that would hide it.
  if (rest.length <= 1) return html`<ul class="few">${list(items)}</ul>`
  return html`<ul class="few">${list(items.slice(0, shown))}</ul><details class="more"><summary>${rest.length} more</summary><ul class="few">${list(rest)}</ul></details>`
}
