/** Builds HTML that escapes every text unless it is markup already; also links and short lists. */

export class Markup {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type MarkupContent = string | number | false | undefined | Markup | readonly MarkupContent[]

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escapeText = (text: string): string => text.replace(/[&<>"']/g, character => entities[character] ?? '')

function render(content: MarkupContent): string {
  if (content === undefined || content === false) return ''
  if (content instanceof Markup) return content.text
  if (typeof content === 'string' || typeof content === 'number') return escapeText(String(content))
  return content.map(render).join('')
}

/** A tagged template: values in ${} are escaped, both in elements and in quoted attributes. */
export const html = (parts: TemplateStringsArray, ...contents: readonly MarkupContent[]): Markup =>
  new Markup(parts.map((part, index) => part + render(contents[index])).join(''))

/** A name that may break after dots and before underscores. */
export const breakable = (name: string): MarkupContent =>
  name.split(/(?<=\.)|(?=_)/).map((part, index) => html`${index > 0 && html`<wbr>`}${part}`)

/** Columns of a history table link to the table. */
const anchorOf = (name: string): string => name.replace(/^(history\.\w+)\.\w+$/, '$1')

/** Links to a table or a column by its qualified name; `text` is that name unless given. */
export const link = (name: string, text: string = name): Markup =>
  html`<a href="#${anchorOf(name)}">${breakable(text)}</a>`

const shown = 3

/** The first few, and the rest behind a summary. */
export function few(items: readonly MarkupContent[]): MarkupContent {
  const rest = items.slice(shown)
  const list = (some: readonly MarkupContent[]): MarkupContent => some.map(item => html`<li>${item}</li>`)
  if (items.length === 0) return undefined
  // One more item is no longer than the summary that would hide it.
  if (rest.length <= 1) return html`<ul class="few">${list(items)}</ul>`
  return html`<ul class="few">${list(items.slice(0, shown))}</ul><details class="more"><summary>${rest.length} more</summary><ul class="few">${list(rest)}</ul></details>`
}
