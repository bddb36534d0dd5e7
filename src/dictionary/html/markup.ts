/** HTML in which every text is escaped unless it is markup already; links, and lists that stay short. */

export class Markup {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type Content = string | number | false | undefined | Markup | readonly Content[]

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escapeText = (text: string): string => text.replace(/[&<>"']/g, character => entities[character] ?? '')

function render(content: Content): string {
  if (content === undefined || content === false) return ''
  if (content instanceof Markup) return content.text
  if (typeof content === 'string' || typeof content === 'number') return escapeText(String(content))
  return content.map(render).join('')
}

/** A tagged template: values in ${} are escaped, both in elements and in quoted attributes. */
export const html = (parts: TemplateStringsArray, ...contents: readonly Content[]): Markup =>
  new Markup(parts.map((part, index) => part + render(contents[index])).join(''))

/** A name that may break after dots and before underscores. */
export const breakable = (name: string): Content =>
  name.split(/(?<=\.)|(?=_)/).map((part, index) => html`${index > 0 && html`<wbr>`}${part}`)

/** The columns of a table of history stand at the table. */
const placeOf = (name: string): string => name.replace(/^(history\.\w+)\.\w+$/, '$1')

/** To a table or a column by its qualified name; `text` is that name unless given. */
export const link = (name: string, text: string = name): Markup =>
  html`<a href="#${placeOf(name)}">${breakable(text)}</a>`

const shown = 3

/** The first few, and the rest behind a summary. */
export function few(items: readonly Content[]): Content {
  const rest = items.slice(shown)
  const list = (some: readonly Content[]): Content => some.map(item => html`<li>${item}</li>`)
  if (items.length === 0) return undefined
  // One more item is no longer than the summary that would hide it.
  if (rest.length <= 1) return html`<ul class="few">${list(items)}</ul>`
  return html`<ul class="few">${list(items.slice(0, shown))}</ul><details class="more"><summary>${rest.length} more</summary><ul class="few">${list(rest)}</ul></details>`
}
