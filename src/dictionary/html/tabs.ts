/** Parts of the page of which a screen shows one at a time; paper, and a browser without scripts, show all. */
import { type Content, html, type Markup } from './markup.ts'

export interface Tab {
  /** Id on the page. */
  readonly id: string
  readonly title: string
  readonly body: Content
}

/** `first` is the id of the one that is shown at the beginning; the first in the list unless given. */
export const tabs = (label: string, all: readonly Tab[], first = all[0]?.id ?? ''): Markup =>
  html`<div class="tabs" data-tabs="${first}"><div class="tab-list" role="tablist" aria-label="${label}">${all.map(
    ({ id, title }) =>
      html`<a role="tab" href="#${id}" id="tab.${id}" aria-controls="${id}" data-tab="${id}">${title}</a>`,
  )}</div>${all.map(
    ({ id, title, body }) =>
      html`<section class="tab" role="tabpanel" id="${id}" aria-labelledby="tab.${id}"><h3>${title}</h3>${body}</section>
`,
  )}</div>`
