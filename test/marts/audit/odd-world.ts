/**
 * Records of three companies with what a tidy world lacks: weeks that end on other days, workers who serve two companies,
 * records that name no worker or agency, piece work inside totals, invoices without a payment, and companies abroad.
 */
import { utcDay } from '../../../src/lib/dates.ts'
import { namedRng, type Rng } from '../../../src/lib/rng.ts'
import { generateRecords } from '../../../src/sandbox/data/generate.ts'
import type { CollectionName, WorldRecords } from '../../../src/sandbox/world.ts'

// biome-ignore lint/suspicious/noExplicitAny: records of many shapes, as the service writes them
export type Raw = any
export type RawRecords = Record<CollectionName, Raw[]>

/** The day after the sandbox's data ends. */
const today = '2026-11-02'

export interface OddWorld {
  readonly seed: number
  /** Of each of its three companies; 0.03 makes 450 timesheets in all. */
  readonly scale?: number | undefined
}

/** Three worlds of one company each, which then share workers and agencies. */
export function oddWorld({ seed, scale = 0.03 }: OddWorld): RawRecords {
  const parts = [1, 2, 3].map(part => parsed(generateRecords({ seed: seed * 10 + part, scale, today })))
  const [first, ...others] = parts as [RawRecords, ...RawRecords[]]
  const joined = [first, ...others.map(part => sharing(part, first))]
  const records = Object.fromEntries(
    Object.keys(first).map(name => [
      name,
      joined.flatMap(part => part[name as CollectionName]).filter(onceEach()),
    ]),
  ) as RawRecords
  const rng = namedRng(seed, 'odd world')
  endWeeksElsewhere(records)
  configureApart(records)
  bringInProvider(records)
  writeEveningsFor(records)
  includePieceWork(records)
  loseNames(records, rng)
  loseDates(records, rng)
  mistypeDates(records, rng)
  payLater(records, rng)
  expireSoon(records, rng)
  payTooLittle(records)
  return records
}

const parsed = (records: WorldRecords): RawRecords => JSON.parse(JSON.stringify(records))

function onceEach(): (record: Raw) => boolean {
  const known = new Set<string>()
  return ({ id, companyId }) => {
    const key = `${companyId}/${id}`
    if (id === undefined || !known.has(key)) {
      known.add(key)
      return true
    }
    return false
  }
}

/** Its first agencies and workers become those of the other world. */
function sharing(records: RawRecords, other: RawRecords): RawRecords {
  const workersOf = (one: RawRecords): string[] => [
    ...new Set(one.timesheets.map(({ worker }) => String(worker.id))),
  ]
  const pairs = [
    ...records.agencies.slice(0, 2).map(({ id }, place) => [id, other.agencies[place]?.id]),
    ...workersOf(records)
      .slice(0, 6)
      .map((id, place) => [id, workersOf(other)[place]]),
  ]
  const text = pairs.reduce(
    (whole, [from, to]) => (to === undefined ? whole : whole.replaceAll(from, to)),
    JSON.stringify(records),
  )
  return JSON.parse(text)
}

const shifted = (instant: string, days: number): string => {
  const day = instant.slice(0, 10)
  return utcDay(`${day}T00:00:00Z`, days) + instant.slice(10)
}

const companyOf = (records: RawRecords, place: number): Raw => records.companies[place]

/** The second company ends its weeks on Saturday, the third on Friday; the first says nothing and ends them on Sunday. */
function endWeeksElsewhere(records: RawRecords): void {
  for (const [place, weekend, days] of [
    [0, undefined, 0],
    [1, 'saturday', -1],
    [2, 'Friday', -2],
  ] as const) {
    const company = companyOf(records, place)
    if (weekend === undefined) delete company.config.weekendDay
    else company.config.weekendDay = weekend
    for (const record of [...records.timesheets, ...records.invoices, ...records.creditNotes]) {
      if (record.company.id !== company.id) continue
      for (const field of ['weekEnding', 'start', 'end'])
        if (record[field]) record[field] = shifted(record[field], days)
    }
  }
}

function configureApart(records: RawRecords): void {
  const [plain, strict, loose] = records.companies
  delete plain.config.assignmentRequirements.sdc
  strict.config.assignmentRequirements.sds = { required: true, company: true, supplier: true }
  strict.config.assignmentRequirements.kid = { required: true, company: true, supplier: true }
  loose.config.assignmentRequirements.confirm = { company: false, supplier: false }
  delete loose.config.userInactivityMonths
  strict.stageTracking = true
  strict.address.country = 'Ireland'
  loose.address.country = 'United States'
}

/** The second company writes its days as their last moment in London, which is the next day in Auckland. */
function writeEveningsFor(records: RawRecords): void {
  const company = companyOf(records, 1)
  for (const record of [...records.timesheets, ...records.invoices, ...records.assignments]) {
    if (record.company.id !== company.id) continue
    for (const field of ['weekEnding', 'startDate', 'endDate', 'due'])
      if (record[field]) record[field] = record[field].replace('T00:00:00.000Z', 'T22:59:59.999Z')
  }
}

const msp = { id: 'a0a0a0a0a0a0a0a0a0a0a0a0', name: 'Openfield Managed Services' }

/** The third company buys through a provider: each of its invoices has two sides. */
function bringInProvider(records: RawRecords): void {
  const company = companyOf(records, 2)
  company.config.mspConfig = { enabled: true, msps: [msp.name], billing: true }
  records.invoices = records.invoices.flatMap(invoice => {
    if (invoice.company.id !== company.id) return [invoice]
    const supplier = { ...invoice, invoiceType: 'supplierToMsp', mspInvoiceType: 'payable', msp }
    const client = {
      ...structuredClone(supplier),
      invoiceType: 'mspToClient',
      mspInvoiceType: 'receivable',
      id: `c${invoice.id.slice(1)}`,
      reference: `${invoice.reference}-C`,
    }
    return [supplier, client]
  })
}

/** The second company's totals hold the piece work as well as the ten kinds of hours. */
function includePieceWork(records: RawRecords): void {
  const company = companyOf(records, 1)
  for (const { company: of, values, pieceRateEntries } of records.timesheets) {
    if (of.id !== company.id) continue
    for (const { totals } of pieceRateEntries) {
      values.pay.total = Math.round((values.pay.total + totals.payValue) * 100) / 100
      values.charge.total = Math.round((values.charge.total + totals.chargeValue) * 100) / 100
    }
  }
}

const some = (records: readonly Raw[], rng: Rng, share: number): Raw[] => records.filter(() => rng() < share)

function loseNames(records: RawRecords, rng: Rng): void {
  const lose = (name: CollectionName, field: string, share: number) => {
    for (const record of some(records[name], rng, share)) delete record[field]
  }
  for (const field of ['worker', 'agency', 'project', 'assignment']) lose('timesheets', field, 0.02)
  for (const field of ['worker', 'agency', 'trade', 'project', 'costCode', 'requisition'])
    lose('assignments', field, 0.03)
  for (const field of ['worker', 'project', 'category', 'costCode', 'agency']) lose('expenses', field, 0.05)
  for (const field of ['project', 'trade']) lose('requisitions', field, 0.04)
  lose('invoices', 'agency', 0.02)
  for (const expense of some(records.expenses, rng, 0.05)) expense.category = 'Tools'
}

function loseDates(records: RawRecords, rng: Rng): void {
  for (const timesheet of some(records.timesheets, rng, 0.01)) delete timesheet.weekEnding
  for (const expense of some(records.expenses, rng, 0.05)) delete expense.date
  for (const assignment of some(records.assignments, rng, 0.03)) delete assignment.endDate
  for (const invoice of some(records.invoices, rng, 0.04)) delete invoice.due
  for (const requisition of some(records.requisitions, rng, 0.1))
    for (const stage of requisition.approvalStages) stage.approvedAt = null
}

/** Years that somebody mistyped, and dates that stand for none. */
function mistypeDates(records: RawRecords, rng: Rng): void {
  const mistype = (name: CollectionName, field: string, date: string): void => {
    for (const record of some(records[name], rng, 0.02)) if (record[field]) record[field] = date
  }
  mistype('timesheets', 'weekEnding', '2205-05-31T00:00:00.000Z')
  mistype('expenses', 'date', '0001-01-01T00:00:00.000Z')
  mistype('assignments', 'startDate', '0001-01-01T00:00:00.000Z')
  mistype('assignments', 'endDate', '9999-12-31T00:00:00.000Z')
  mistype('invoices', 'due', '9999-12-31T00:00:00.000Z')
}

/** One company shows no payment at all; of the others some confirmed invoices wait for theirs. */
function payLater(records: RawRecords, rng: Rng): void {
  const silent = companyOf(records, 1).id
  for (const invoice of records.invoices) {
    if (!invoice.payment) continue
    if (invoice.company.id === silent || rng() < 0.4) delete invoice.payment
    else invoice.payment.paymentDate = shifted(invoice.payment.paymentDate, Math.floor(rng() * 50))
  }
}

/** Documents around the limits of 30, 60 and 90 days, and projects that changed their mind about a document. */
function expireSoon(records: RawRecords, rng: Rng): void {
  const around = [-1, 0, 29, 30, 31, 60, 61, 90, 91]
  for (const document of records.assignments.flatMap(({ customDocuments }) => customDocuments)) {
    if (document.expiry && rng() < 0.7)
      document.expiry = `${utcDay(`${today}T00:00:00Z`, around[Math.floor(rng() * around.length)])}T12:00:00.000Z`
    if (rng() < 0.05) delete document.required
  }
}

/** Some PAYE work is paid below the minimum wage, and some contractors and their umbrellas show no statement. */
function payTooLittle(records: RawRecords): void {
  for (const [place, { rateType, payType, rates }] of records.timesheets.entries())
    if (rateType === 'paye' && payType === 'hourly' && place % 5 === 0) rates.wd.pay = 12.5
  for (const [place, assignment] of records.assignments.entries())
    if (assignment.rateType === 'psc' && place % 2 === 0) delete assignment.sds
}
