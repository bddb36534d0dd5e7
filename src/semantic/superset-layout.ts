/** Where charts stand on a dashboard of Superset: a row of two under the title of each section. */
import { type Chart, sectionsOf } from './charts.ts'

interface Node {
  readonly id: string
  readonly type: string
  readonly children: string[]
  readonly meta?: object
  readonly parents?: string[]
}

/** Of the twelve columns of a dashboard. */
const width = 6
const height = 50

function rowsOf(charts: readonly Chart[]): Chart[][] {
  const rows: Chart[][] = []
  for (let from = 0; from < charts.length; from += 2) rows.push(charts.slice(from, from + 2))
  return rows
}

function sectionNodes(section: string, charts: readonly Chart[], idOf: (chart: Chart) => string): Node[] {
  const header: Node = {
    id: `HEADER-${section}`,
    type: 'HEADER',
    children: [],
    meta: { text: section, headerSize: 'MEDIUM_HEADER', background: 'BACKGROUND_TRANSPARENT' },
    parents: ['ROOT_ID', 'GRID_ID'],
  }
  const rows = rowsOf(charts).flatMap((row, place): Node[] => {
    const id = `ROW-${section}-${place}`
    const shown = row.map(
      (chart): Node => ({
        id: `CHART-${chart.key}`,
        type: 'CHART',
        children: [],
        meta: { chartId: 0, height, width, sliceName: chart.title, uuid: idOf(chart) },
        parents: ['ROOT_ID', 'GRID_ID', id],
      }),
    )
    return [
      {
        id,
        type: 'ROW',
        children: shown.map(one => one.id),
        meta: { background: 'BACKGROUND_TRANSPARENT' },
        parents: ['ROOT_ID', 'GRID_ID'],
      },
      ...shown,
    ]
  })
  return [header, ...rows]
}

export function dashboardOf(charts: readonly Chart[], idOf: (chart: Chart) => string): object {
  const nodes = sectionsOf(charts).flatMap(section =>
    sectionNodes(
      section,
      charts.filter(chart => chart.section === section),
      idOf,
    ),
  )
  const grid: Node = {
    id: 'GRID_ID',
    type: 'GRID',
    children: nodes.filter(({ type }) => type !== 'CHART').map(({ id }) => id),
    parents: ['ROOT_ID'],
  }
  const root: Node = { id: 'ROOT_ID', type: 'ROOT', children: ['GRID_ID'] }
  return {
    dashboard_title: 'Workforce',
    slug: 'muster-workforce',
    css: '',
    published: true,
    position: {
      DASHBOARD_VERSION_KEY: 'v2',
      ...Object.fromEntries([root, grid, ...nodes].map(node => [node.id, node])),
    },
    metadata: {},
  }
}
