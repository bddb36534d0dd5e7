/** Purchase orders that assignments are charged to. */
import {
  dayWrittenIn,
  derived,
  flag,
  id,
  json,
  keyOf,
  money,
  named,
  ofRoot,
  ordinal,
  personal,
  text,
  timestamp,
} from '../fields/column.ts'
import { resource } from '../fields/resource.ts'
import { changeTimes, orderReference, tag } from '../fields/shared-columns.ts'
import { bridge, dimension, each } from '../fields/table.ts'

const covered = (thing: 'project' | 'trade') =>
  bridge(`po_${thing}`, `One row per ${thing} that a purchase order covers.`, {
    [`po_${thing}_key`]: keyOf('purchase_order_id', `${thing}_ordinal`),
    purchase_order_id: ofRoot('purchase_order_id'),
    [`${thing}_ordinal`]: ordinal(),
    [`${thing}_id`]: named('', thing),
  })

export const purchaseOrders = resource({
  name: 'purchase-orders',
  entity: 'purchase_order',
  description: 'Purchase orders with the projects and trades they cover.',
  path: '/purchase-orders/{id}',
  keys: { agency: 'not at all' },
  read: { strategy: 'byId' },
  updatedAt: 'updatedAt',
  // An order that was read and the inferred member of its reference are one order.
  expected: `
    select distinct coalesce(nullif(po.purchase_order_reference_key, '-1'), po.purchase_order_id) as purchase_order_key
    from star.dim_purchase_order as po
    where not po.is_deleted and po.purchase_order_id <> '-1'`,
  table: dimension(
    'purchase_order',
    'One row per purchase order that was read, and one per reference of an assignment.',
    {
      purchase_order_id: id(
        'id',
        'Id of the purchase order; of an inferred member, its purchase_order_reference_key.',
      ),
      reference: text('reference', 'Reference.'),
      status: text('status', 'State; the contract shows inactive.'),
      trade_option: text('tradeOption', 'Which trades it covers, in a word; the contract shows specific.'),
      value: money('value', 'Value, in the currency of the company.'),
      is_all_trades: flag('allTrades', 'Whether it covers every trade.'),
      start_at: timestamp('startDate', 'Start.'),
      start_date: dayWrittenIn('start_at', 'Day of the start.'),
      end_at: timestamp('endDate', 'End.'),
      end_date: dayWrittenIn('end_at', 'Day of the end.'),
      company_id: named('company', 'company'),
      site_id: named('site', 'site'),
      agency_id: named('agency', 'agency'),
      tag_id: tag('tag', 'purchase_order'),
      revoked_at: timestamp('revoked.date', 'When it was revoked.'),
      revoked_by_user_id: named('revoked.user', 'user'),
      reinstated_json: personal(json('reinstated', 'Reinstatement; the contract does not show the keys.')),
      is_reinstated: derived('boolean', 'reinstated_json is not null', 'Whether it was reinstated.'),
      purchase_order_reference_key: orderReference('reference'),
      ...changeTimes,
      projects: each('projects', covered('project')),
      trades: each('trades', covered('trade')),
    },
  ),
})
