/** Every page of the dashboard, in the order of its navigation. */
import { UsageError } from '../../lib/errors.ts'
import type { Page, Panel } from '../panel.ts'
import { compliance } from './compliance.ts'
import { cost } from './cost.ts'
import { hiring } from './hiring.ts'
import { moneyPage } from './money.ts'
import { suppliers } from './suppliers.ts'
import { today } from './today.ts'
import { workingTime } from './working-time.ts'

export const pages: readonly Page[] = [today, cost, hiring, workingTime, moneyPage, suppliers, compliance]

/** Throws UsageError for a page that does not exist. */
export function pageNamed(id: string): Page {
  const page = pages.find(one => one.id === id)
  if (page) return page
  throw new UsageError({
    what: `there is no page ${id}`,
    next: `choose ${pages.map(one => one.id).join(', ')}`,
  })
}

/** Throws UsageError for a panel that does not exist. */
export function panelNamed(id: string): Panel {
  const panel = pages.flatMap(page => page.panels).find(one => one.id === id)
  if (panel) return panel
  throw new UsageError({ what: `there is no panel ${id}`, next: 'choose one that a page shows' })
}
