/** What every page of the dashboard keeps to. */
import { describe, expect, test } from 'vitest'
import { pages } from '../../src/dashboard/pages/pages.ts'

const panels = pages.flatMap(page => page.panels)
const isOwnKind = (kind: string): boolean => kind !== 'headline' && kind !== 'attention'

test('the overview is the first page, and data health the last', () => {
  expect([pages.at(0)?.id, pages.at(-1)?.id]).toEqual(['overview', 'data-health'])
})

test.each(pages.map(page => [page.id, page.panels] as const))('%s has at most eight panels', (_, shown) => {
  expect(shown.filter(({ show }) => isOwnKind(show.kind)).length).toBeLessThanOrEqual(8)
  expect(shown.filter(({ show }) => show.kind === 'headline').length).toBeLessThanOrEqual(8)
})

test('no two panels have the same id or the same title', () => {
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  const titles = pages.flatMap(page => page.panels.map(({ title }) => `${page.id} ${title}`))
  expect(new Set(titles).size).toBe(titles.length)
})

describe('what needs attention', () => {
  test.each(
    panels.flatMap(({ id, show }) =>
      show.kind === 'attention' ? [[id, show.page, show.panel] as const] : [],
    ),
  )('%s links to a panel of the page %s', (_, page, panel) => {
    const found = pages.find(one => one.id === page)?.panels.map(({ id }) => id)
    expect(found).toContain(panel)
  })
})

test('each headline links to a page', () => {
  for (const { show } of panels)
    if (show.kind === 'headline') expect(pages.map(({ id }) => id)).toContain(show.page)
})
