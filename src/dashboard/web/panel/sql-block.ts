/** A statement to read and to copy. */
import { h, wordButton } from '../dom.ts'

export function sqlBlock(sql: string): HTMLElement {
  const copy = wordButton('Copy', () => {
    navigator.clipboard.writeText(sql).then(
      () => copy.replaceChildren('Copied'),
      // A page from a file, or without permission, may not write there.
      () => copy.replaceChildren('Select the text to copy it'),
    )
  })
  const code = h('pre', { tabindex: 0, role: 'region', 'aria-label': 'SQL' }, h('code', {}, sql))
  return h('div', { class: 'sql' }, h('div', { class: 'actions' }, copy), code)
}
