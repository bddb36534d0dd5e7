/** The parties in whose view an invoice counts. */
const views: Readonly<Record<string, readonly string[]>> = {
  supplierToMsp: ['provider', 'supplier'],
  mspToClient: ['client'],
}

export const perspectivesOf = (invoiceType: string): readonly string[] =>
  views[invoiceType] ?? ['client', 'supplier']
