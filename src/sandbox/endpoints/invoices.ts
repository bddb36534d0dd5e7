/** GET /invoices. */

import { byId, byValue } from '../declare/filter.ts'
import { listEndpoint } from '../declare/list.ts'
import { ownPapers } from '../keys/agency-view.ts'

export const invoiceList = listEndpoint({
  path: '/invoices',
  collection: 'invoices',
  scope: { company: 'company.id', agency: 'agency.id' },
  company: 'ids',
  filters: {
    status: byValue('status', ['pending', 'confirmed']),
    project: byId('projects.id'),
    agency: byId('agency.id'),
    invoiceType: byValue('invoiceType', ['supplierToClient', 'supplierToMsp', 'mspToClient']),
    mspInvoiceType: byValue('mspInvoiceType', ['receivable', 'payable']),
  },
  search: ['reference', 'company.name', 'projects.name', 'agency.name', 'msp.name', 'timesheets.reference'],
  dates: { fields: ['createdAt', 'confirmedDate', 'due', 'weekEnding'], by: 'createdAt' },
  sort: {
    fields: ['createdAt', 'updatedAt', 'invoiceRef', 'due', 'weekEnding', 'confirmedDate'],
    by: 'createdAt',
    order: 'desc',
    paths: { invoiceRef: 'reference' },
  },
  tests: ownPapers,
})
