/** The row mode of the recruitment metrics: one row a worker that a requisition tracks. */

import type { EndpointRequest } from '../declare/endpoint.ts'
import { shuffledTies } from '../declare/ties.ts'
import type { Test } from '../keys/scope.ts'
import { type DayWindow, inWindow } from '../metrics/calendar-days.ts'
import type { MeasuredRequisition, StageTracking } from '../metrics/measured.ts'
import { metricRow } from '../metrics/metric-row.ts'
import type { StoredRecord } from '../records/record.ts'
import type { SortOrder } from '../records/sorted-order.ts'

interface RowsQuery extends DayWindow {
  readonly agency?: readonly string[] | undefined
  readonly sortBy: 'createdAt' | 'reqRef'
  readonly sortOrder: SortOrder
}

interface Tracked {
  readonly requisition: MeasuredRequisition
  readonly tracking: StageTracking
}

/** Rows are made when they are looked at: a page shows few of those that are counted. */
export function metricRows(request: EndpointRequest, query: RowsQuery, visible: Test) {
  const { world, metrics } = request
  const created = inWindow(query, metrics)
  const wanted = ({ agency }: StageTracking) => query.agency?.includes(agency.id) ?? true
  const path = query.sortBy === 'reqRef' ? 'reference' : 'createdAt'
  const order = world.ordered('requisitions', path, query.sortOrder)
  const requisitions = order.records().filter(visible) as unknown as MeasuredRequisition[]
  const tracked = requisitions
    .filter(requisition => created(Date.parse(requisition.createdAt)))
    .flatMap(requisition =>
      (requisition.stageTracking ?? []).filter(wanted).map(tracking => ({ requisition, tracking })),
    )
  const sortKey = ({ requisition }: Tracked) => order.keyOf(requisition as unknown as StoredRecord)
  return {
    rows: shuffledTies(tracked, sortKey, request.shuffleTies).map(
      ({ requisition, tracking }) =>
        (): StoredRecord =>
          metricRow(requisition, tracking, metrics),
    ),
    meta: {},
  }
}
