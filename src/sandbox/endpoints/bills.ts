/** Serves GET /invoices, /credit-notes/{id} and /purchase-orders/{id}. */
import { operations } from '../../contract/operations.ts'
import { creditNotes } from '../../contract/resources/credit-notes.ts'
import { invoices } from '../../contract/resources/invoices.ts'
import { purchaseOrders } from '../../contract/resources/purchase-orders.ts'
import { readEndpoint } from '../declare/endpoint.ts'
import { listEndpoint } from '../declare/list.ts'
import { recordOf } from '../declare/schemas.ts'
import { visibleBills } from '../keys/scope.ts'

export const invoiceList = listEndpoint({
  operation: operations.listInvoices,
  scope: 'read:invoices',
  summary: 'Invoices.',
  returns: recordOf('Invoice', invoices),
  collection: 'invoices',
  within: visibleBills,
  search: ['reference', 'company.name', 'projects.name', 'agency.name', 'msp.name', 'timesheets.reference'],
  sort: ['createdAt', 'desc'],
  paths: { project: 'projects.id', invoiceRef: 'reference' },
})

export const creditNoteRead = readEndpoint({
  operation: operations.readCreditNote,
  scope: 'read:credit-notes',
  noun: 'credit note',
  returns: recordOf('CreditNote', creditNotes),
  collection: 'creditNotes',
  within: visibleBills,
})

export const purchaseOrderRead = readEndpoint({
  operation: operations.readPurchaseOrder,
  keys: 'company',
  scope: 'read:purchase-orders',
  noun: 'purchase order',
  returns: recordOf('PurchaseOrder', purchaseOrders),
  collection: 'purchaseOrders',
  within: { company: 'company.id' },
})
