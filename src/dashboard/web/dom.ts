/** Builds elements from code: texts are never parsed as markup. */

type ElementChild = Node | string | false | null | undefined
type ElementProperties = Readonly<Record<string, unknown>>

function setProperty(element: HTMLElement, name: string, value: unknown): void {
  if (value === undefined || value === false || value === null) return
  if (typeof value === 'function') element.addEventListener(name, value as EventListener)
  else element.setAttribute(name, value === true ? '' : String(value))
}

/** An attribute whose value is a function listens to the event of its name. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: ElementProperties = {},
  ...children: readonly (ElementChild | readonly ElementChild[])[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(properties)) setProperty(element, name, value)
  for (const child of children.flat()) if (child) element.append(child)
  return element
}

/** A button that looks like text. */
export const wordButton = (
  label: string,
  click: () => void,
  more: ElementProperties = {},
): HTMLButtonElement => h('button', { type: 'button', class: 'word', click, ...more }, label)

/** A statement to read and to copy. */
export function sqlBlock(sql: string): HTMLElement {
  const copy = wordButton('Copy', () => {
    navigator.clipboard.writeText(sql).then(
      () => copy.replaceChildren('Copied'),
      // A page from a file, or without permission, may not write to the clipboard.
      () => copy.replaceChildren('Select the text to copy it'),
    )
  })
  const code = h('pre', { tabindex: 0, role: 'region', 'aria-label': 'SQL' }, h('code', {}, sql))
  return h('div', { class: 'sql' }, h('div', { class: 'actions' }, copy), code)
}
