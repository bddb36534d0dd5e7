/** GET /purchase-orders/{id}. */
import { readEndpoint } from '../declare/read.ts'

export const purchaseOrderRead = readEndpoint({
  path: '/purchase-orders/:id',
  collection: 'purchaseOrders',
  noun: 'purchase order',
  scope: { company: 'company.id' },
})
