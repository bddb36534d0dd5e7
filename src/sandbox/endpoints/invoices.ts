/** GET /invoices. */
import { invoices } from '../../contract/resources/invoices.ts'
import { byId, byValue } from '../declare/filter.ts'
import { listEndpoint } from '../declare/list.ts'
import { recordOf } from '../declare/record-schema.ts'
import { billsOfAgencies } from '../keys/agencies.ts'

export const invoiceList = listEndpoint({
  path: '/invoices',
  scope: 'read:invoices',
  tool: 'list_invoices',
  summary: 'Invoices.',
  returns: recordOf('Invoice', invoices),
  collection: 'invoices',
  within: { company: 'company.id', agency: 'agency.id' },
  byCompany: true,
  filters: {
    status: byValue('status', ['pending', 'confirmed']),
    project: byId('projects.id'),
    agency: byId('agency.id'),
    invoiceType: byValue(
      'invoiceType',
      ['supplierToClient', 'supplierToMsp', 'mspToClient'],
      'Only invoices between these parties.',
    ),
    mspInvoiceType: byValue(
      'mspInvoiceType',
      ['receivable', 'payable'],
      "Only invoices of this kind, seen from the provider's side.",
    ),
  },
  search: ['reference', 'company.name', 'projects.name', 'agency.name', 'msp.name', 'timesheets.reference'],
  dates: { fields: ['createdAt', 'confirmedDate', 'due', 'weekEnding'], by: 'createdAt' },
  sort: {
    fields: ['createdAt', 'updatedAt', 'invoiceRef', 'due', 'weekEnding', 'confirmedDate'],
    by: 'createdAt',
    order: 'desc',
    paths: { invoiceRef: 'reference' },
  },
  tests: billsOfAgencies,
})
