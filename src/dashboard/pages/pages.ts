/** Lists every page of the dashboard, in the order of its navigation. */
import { UsageError } from '../../lib/errors.ts'
import { choiceOf, nearest } from '../../lib/text/nearest.ts'
import type { DashboardPage, Panel } from '../panel.ts'
import { compliance } from './compliance.ts'
import { cost } from './cost.ts'
import { dataHealth } from './data-health.ts'
import { headcountPage } from './headcount.ts'
import { hiring } from './hiring.ts'
import { moneyPage } from './money.ts'
import { overview } from './overview.ts'
import { suppliers } from './suppliers.ts'
import { workingTime } from './working-time.ts'

export const pages: readonly DashboardPage[] = [
  overview,
  cost,
  headcountPage,
  workingTime,
  hiring,
  moneyPage,
  suppliers,
  compliance,
  dataHealth,
]

/** Throws UsageError for a page that does not exist. */
export function pageNamed(id: string): DashboardPage {
  const page = pages.find(one => one.id === id)
  if (page) return page
  throw new UsageError({
    what: `there is no page ${id}`,
    next: choiceOf(
      id,
      pages.map(one => one.id),
    ),
  })
}

/** Throws UsageError for a panel that does not exist. */
export function panelNamed(id: string): Panel {
  const panels = pages.flatMap(page => page.panels)
  const panel = panels.find(one => one.id === id)
  if (panel) return panel
  const near = nearest(
    id,
    panels.map(one => one.id),
  )
  throw new UsageError({
    what: `there is no panel ${id}`,
    next: near ? `did you mean ${near}?` : 'choose one that a page shows',
  })
}
