/** What happens to invoices: written for approved timesheets that are on none, and confirmed. */

import { invoiceRecord, lineOf, managedSides } from '../data/billing/invoices.ts'
import { objectId, type Ref, reference } from '../data/identity.ts'
import type { Company } from '../data/master/companies.ts'
import type { Timesheet } from '../data/work/timesheets.ts'
import { pathReader, type StoredRecord } from '../records/record.ts'
import type { World } from '../world.ts'
import type { ChangeContext } from './change-context.ts'
import { isWhole } from './timesheet-changes.ts'

/** More timesheets than this are left for the next invoice. */
const LINES_MAX = 5

interface Billed {
  /** Insertions of invoices that the ids account for. */
  counted: number
  ids: Set<string>
}

/** Timesheets on any invoice: kept per world, read again only when somebody else added invoices. */
const billedByWorld = new WeakMap<World, Billed>()

export function billedTimesheets(context: ChangeContext): ReadonlySet<string> {
  return billedOf(context.world).ids
}

function billedOf(world: World): Billed {
  const counted = world.nextNumber('invoices')
  const known = billedByWorld.get(world)
  if (known?.counted === counted) return known
  const lists = world.all('invoices').map(invoice => (invoice.timesheets ?? []) as readonly { id: string }[])
  const billed = { counted, ids: new Set(lists.flat().map(timesheet => timesheet.id)) }
  billedByWorld.set(world, billed)
  return billed
}

/** The first timesheet decides company, agency and week; up to four like it come along. */
export function writeInvoice(context: ChangeContext): boolean {
  const billed = billedOf(context.world)
  const isBillable = (record: StoredRecord) =>
    record.status === 'approved' && !billed.ids.has(String(record.id)) && isWhole(record)
  const first = context.find('timesheets', 'billable', isBillable) as Timesheet | undefined
  if (!first) return false
  const lines = context
    .list('timesheets', 'billable', isBillable)
    .map(candidate => context.world.get('timesheets', String(candidate.id)))
    .filter(candidate => candidate !== undefined)
    .filter(isBillable)
    .filter(candidate => isBilledWith(candidate as unknown as Timesheet, first))
    .slice(0, LINES_MAX)
    .map(record => lineOf({ timesheet: record as unknown as Timesheet, breakHours: breakHours(record) }))
  for (const side of sidesOf(context, first.company)) {
    const head = {
      id: objectId(context.rng, context.nowMs),
      reference: reference('INV', context.world.nextNumber('invoices')),
      company: first.company,
      agency: first.agency,
      weekEnding: first.weekEnding,
      createdMs: context.nowMs,
      cisRate: 0,
    }
    const invoice = { ...invoiceRecord(head, lines), ...side }
    context.create('invoices', invoice)
    context.tell('invoice_created', invoice)
  }
  for (const line of lines) billed.ids.add(line.id)
  billed.counted = context.world.nextNumber('invoices')
  return true
}

const providers = pathReader('config.mspConfig')

/** The provider is the one of earlier invoices; before any, a new one of the name that the company gives. */
function sidesOf(context: ChangeContext, { id }: Ref): readonly StoredRecord[] {
  const config = providers(context.world.get('companies', id)) as Company['config']['mspConfig'] | undefined
  if (!config?.enabled) return [{}]
  const earlier = context.find('invoices', 'of a provider', ({ msp }) => msp !== undefined)
  const msp = earlier?.msp ?? { id: objectId(context.rng, context.nowMs), name: config.msps[0] }
  return managedSides.map(side => ({ ...side, msp }))
}

function isBilledWith(candidate: Timesheet, first: Timesheet): boolean {
  return (
    candidate.weekEnding === first.weekEnding &&
    candidate.agency.id === first.agency.id &&
    candidate.company.id === first.company.id
  )
}

export function breakHours(timesheet: StoredRecord): number {
  return (timesheet as unknown as Timesheet).timelogs.reduce((sum, log) => sum + log.breaks / 60, 0)
}

export function confirmInvoice(context: ChangeContext): boolean {
  const invoice = context.find('invoices', 'pending', record => record.status === 'pending')
  if (!invoice) return false
  const finance = context.find('users', 'finance', user => user.role === 'companyFinance') as Ref | undefined
  context.update('invoices', {
    ...invoice,
    status: 'confirmed',
    confirmedDate: context.now,
    ...(finance ? { confirmedBy: { id: finance.id, name: finance.name } } : {}),
    payment: {
      reference: `BACS ${invoice.reference}`,
      paymentDate: `${context.now.slice(0, 10)}T00:00:00.000Z`,
    },
  })
  context.tell('invoice_paid', invoice)
  return true
}
