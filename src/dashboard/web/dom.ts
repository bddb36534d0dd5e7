/** Elements, built from code: texts are never read as markup. */

type Child = Node | string | false | null | undefined
type Properties = Readonly<Record<string, unknown>>

function setProperty(element: HTMLElement, name: string, value: unknown): void {
  if (value === undefined || value === false || value === null) return
  if (typeof value === 'function') element.addEventListener(name, value as EventListener)
  else element.setAttribute(name, value === true ? '' : String(value))
}

/** An attribute whose value is a function listens to the event of its name. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Properties = {},
  ...children: readonly (Child | readonly Child[])[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(properties)) setProperty(element, name, value)
  for (const child of children.flat()) if (child) element.append(child)
  return element
}

/** A button that looks like a word. */
export const wordButton = (label: string, click: () => void, more: Properties = {}): HTMLButtonElement =>
  h('button', { type: 'button', class: 'word', click, ...more }, label)
