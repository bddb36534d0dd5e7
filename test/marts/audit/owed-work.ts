/** Timesheets and approved claims that an invoice bills to the hiring company sooner or later, with the day when one did. */
import type { Service } from './audited.ts'
import { datedExpenses } from './expense-weeks.ts'
import type { Raw } from './odd-world.ts'
import { byId, dayOf, idOf } from './words.ts'

export interface Owed {
  readonly kind: 'timesheet' | 'claim'
  readonly record: Raw
  /** Of a claim the one it belongs to. */
  readonly sheet: Raw
  readonly week: string | null
  readonly approvedAt: string | null
  readonly isApproved: boolean
  readonly hours: number
  readonly value: number
  /** Days on which invoices to the company were made. */
  readonly billedOn: readonly string[]
  readonly isBilledToMsp: boolean
}

const isToMsp = ({ invoiceType }: Raw): boolean => invoiceType === 'supplierToMsp'

/** By the id of the timesheet. */
function invoicesOfSheets(invoices: readonly Raw[]): ReadonlyMap<string, readonly Raw[]> {
  const found = new Map<string, Raw[]>()
  for (const invoice of invoices)
    for (const { id } of invoice.timesheets) found.set(id, [...(found.get(id) ?? []), invoice])
  return found
}

function billsOf(invoices: readonly Raw[]): Pick<Owed, 'billedOn' | 'isBilledToMsp'> {
  const days = invoices.filter(one => !isToMsp(one)).map(({ createdAt }) => dayOf(createdAt) as string)
  return { billedOn: days.sort(), isBilledToMsp: invoices.some(isToMsp) }
}

function sheetsOf({ live, today }: Service): Owed[] {
  const invoicesOf = invoicesOfSheets(live.invoices)
  return live.timesheets.flatMap((sheet): Owed[] => {
    const week = dayOf(sheet.weekEnding)
    const isWaiting = ['pending', 'pending_approval'].includes(sheet.status) && week !== null && week <= today
    if (sheet.status !== 'approved' && !isWaiting) return []
    return [
      {
        ...{ kind: 'timesheet', record: sheet, sheet, week, approvedAt: sheet.approvedDate ?? null },
        ...{ isApproved: sheet.status === 'approved', hours: sheet.netHours ?? 0 },
        ...{ value: sheet.values.charge.total ?? 0, ...billsOf(invoicesOf.get(sheet.id) ?? []) },
      },
    ]
  })
}

/** A claim on an invoice to the provider is billed to the company with its timesheet, not before the provider was billed. */
function billsOfClaim(invoice: Raw, ofSheet: readonly Raw[]): Pick<Owed, 'billedOn' | 'isBilledToMsp'> {
  if (!invoice || !isToMsp(invoice)) return billsOf(invoice ? [invoice] : [])
  const ofProvider = dayOf(invoice.createdAt) as string
  const [first] = billsOf(ofSheet).billedOn
  return { billedOn: first === undefined ? [] : [first, ofProvider].sort().slice(1), isBilledToMsp: true }
}

function claimsOf(service: Service): Owed[] {
  const { live } = service
  const [sheets, invoices] = [byId(live.timesheets), byId(live.invoices)]
  const ofSheets = invoicesOfSheets(live.invoices)
  const weeks = new Map(datedExpenses(service).map(({ expense, week }) => [expense.id, week]))
  return live.expenses
    .filter(({ status }) => status === 'approved')
    .map((claim): Owed => {
      const invoice = invoices.get(claim.invoice?.id)
      return {
        ...{ kind: 'claim', record: claim, sheet: sheets.get(claim.timesheet?.id) },
        ...{ week: weeks.get(claim.id) ?? null, approvedAt: claim.approvalDate ?? null, isApproved: true },
        ...{
          hours: 0,
          value: claim.value ?? 0,
          ...billsOfClaim(invoice, ofSheets.get(claim.timesheet?.id) ?? []),
        },
      }
    })
}

export const owedWork = (service: Service): Owed[] => [...sheetsOf(service), ...claimsOf(service)]

export const placeOf = ({ record }: Owed): readonly string[] => [
  idOf(record.company),
  idOf(record.project),
  idOf(record.agency),
]
