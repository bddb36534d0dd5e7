/** GET /purchase-orders/{id}. */
import { purchaseOrders } from '../../contract/resources/purchase-orders.ts'
import { readEndpoint } from '../declare/read.ts'
import { recordOf } from '../declare/record-schema.ts'

export const purchaseOrderRead = readEndpoint({
  path: '/purchase-orders/:id',
  keys: 'company',
  scope: 'read:purchase-orders',
  tool: 'get_purchase_order',
  summary: 'One purchase order.',
  returns: recordOf('PurchaseOrder', purchaseOrders),
  collection: 'purchaseOrders',
  noun: 'purchase order',
  within: { company: 'company.id' },
})
