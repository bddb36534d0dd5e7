/** Generates hiring companies, with every key of the contract's config object, and the agencies that serve them. */
import { dayMs } from '../../../lib/dates.ts'
import { type Draw, editedSince, type Seed } from '../draw.ts'
import type { Ref } from '../identity.ts'
import { agencyStems, agencySuffixes, cities, companyStems, companyTrades } from '../names.ts'

export type Company = ReturnType<typeof companyOf>

export interface Agency extends Ref {
  /** Percent that the construction industry scheme deducts; 0 for agencies paid gross. */
  readonly cisRate: 0 | 20
}

/** The last company of several buys through a managed service provider. A change to one company is in no other world. */
export function makeCompanies(seed: Seed): Company[] {
  const draw = seed.draw('companies')
  const { companies } = seed.counts
  return draw.times(companies, index =>
    structuredClone(companyOf(seed, draw, { index, msp: companies > 2 && index === companies - 1 })),
  )
}

function companyOf(seed: Seed, draw: Draw, { index, msp }: { index: number; msp: boolean }) {
  const createdMs = seed.firstWeekMs - (900 - index) * dayMs - Math.floor(draw.fraction() * dayMs)
  const round = Math.floor(index / companyStems.length)
  const stem = companyStems[index % companyStems.length] as string
  const name = `${stem} ${companyTrades[(index + round) % companyTrades.length]} Ltd`
  const companyNumber = `0${draw.digits(7)}`
  const [city, code, latitude, longitude] = cities[index % cities.length] as (typeof cities)[number]
  const domain = `${stem.toLowerCase()}${round || ''}.example.com`
  return {
    id: draw.id(createdMs),
    name,
    prefix: stem.slice(0, 3).toUpperCase() + (round || ''),
    email: `office@${domain}`,
    companyNumber,
    industry: 'Construction',
    active: index < 3 || draw.chance(0.95),
    /** Not part of any response: the contract's config object has no key for it. */
    stageTracking: index % 3 !== 2,
    projectCount: 0,
    phone: { countryCode: '+44', number: `0${draw.digits(10)}` },
    address: {
      lineOne: `${1 + index * 3} Exchange Street`,
      lineTwo: '',
      city,
      region: 'England',
      country: 'United Kingdom',
      code: `${code} ${1 + (index % 9)}AA`,
      latitude,
      longitude,
    },
    finance: financeOf(draw, { name, companyNumber, domain, city }),
    config: companyConfig(draw, { msp, enhancedUplifts: index % 3 === 1 }),
    ...editedSince(seed, draw, createdMs),
  }
}

const cost = (name: string, key: string, value: number) => ({
  name,
  key,
  value,
  basedOn: ['pay'],
  sectors: [],
})
const costs = {
  markup: cost('Agency margin', 'markup', 0.12),
  emp: [
    cost("Employer's National Insurance", 'ni', 0.15),
    cost('Holiday pay', 'holiday', 0.1),
    cost('Pension', 'pension', 0.02),
  ],
}

type BilledParty = Readonly<Record<'name' | 'companyNumber' | 'domain' | 'city', string>>

function financeOf(draw: Draw, { name, companyNumber, domain, city }: BilledParty) {
  return {
    vat: `GB${draw.digits(9)}`,
    companyNumber,
    accountName: name,
    bankName: 'Example Bank',
    accountNumber: draw.digits(8),
    sortCode: `00-${draw.digits(2)}-${draw.digits(2)}`,
    utr: draw.digits(10),
    billingName: name,
    financeCompany: name,
    cis: { registered: true },
    billing: { lineOne: '1 Exchange Street', city, country: 'United Kingdom' },
    financeEmail: { invoices: `accounts@${domain}` },
    paymentTerms: { days: 30, term: 'net' },
    costs,
  }
}

export function makeAgencies(seed: Seed): Agency[] {
  const draw = seed.draw('agencies')
  return draw.times(seed.counts.agencies, index => ({
    id: draw.id(seed.firstWeekMs - (700 - (index % 600)) * dayMs),
    name: agencyName(draw, index),
    cisRate: draw.chance(0.3) ? 20 : 0,
  }))
}

function agencyName(draw: Draw, index: number): string {
  const round = Math.floor(index / agencyStems.length)
  const suffix = round === 0 ? draw.pick(agencySuffixes) : `${agencySuffixes[round % 5]} ${round + 1}`
  return `${agencyStems[index % agencyStems.length]} ${suffix}`
}

/** The same for every company; assignments have the values. */
export const metaFieldDefinitions = [
  { id: 'induction-date', title: 'Induction date', type: 'date', display: ['assignment', 'timesheet'] },
  { id: 'gang', title: 'Gang', type: 'text', display: ['assignment'] },
] as const

const switchNames = (
  'supplierOverride allowTsImport mandatoryPo prefillTimesheets timesheetActiveAssignments mandatoryMfa ' +
  'autoAssign timesheetsAutoApproved markupIncludeEmp includeEmployerCosts mandatoryPoForApproval ' +
  'requiresPoForReq autoLinkPo allowShiftBasedRequisitions costCodeAllocationRequired'
).split(' ')

const rateUplifts = [
  { description: 'Weekday overtime', type: 'wdOt', uplift: 1.5 },
  { description: 'Saturday', type: 'sat', uplift: 1.5 },
  { description: 'Sunday', type: 'sun', uplift: 2 },
  { description: 'Bank holiday', type: 'bh', uplift: 2 },
]
const weekly = { threshold: 40, enforce: false, reduce: false, blockThresholds: { 0: 40, 1: 48 } }
const accommodation = {
  enabled: false,
  dailyAmount: 46.5,
  paidWhenAbsent: false,
  paidWhenSick: false,
  preferredLabel: 'Lodge',
  showInTotalsSeparately: true,
  lodge: { enabled: true, minimumDistanceMiles: 50 },
}

const workflow = (msp: boolean) => ({
  multiStageApproval: {
    req: { status: true, totalStage: 2, stageNames: ['Project', 'Commercial'] },
    timesheet: false,
  },
  leadTimeWarning: { enabled: true, days: 3, email: 'labour.desk@example.com' },
  timesheetAdjustment: { company: true, supplier: true },
  mspConfig: { enabled: msp, msps: msp ? ['Openfield Managed Services'] : [], billing: msp },
  workerTsConfig: {
    workerCanViewTs: true,
    workerCanAmendTs: false,
    workerCanAllocateCostCodes: false,
    workerTsNotification: { email: true, sms: false },
  },
  invoiceScheduling: { enabled: true, frequency: 'weekly', dayOfWeek: 4, dayOfMonth: 1, time: '06:00' },
  assignmentCreated: {
    enabled: true,
    preInductionUrl: 'https://induction.example.com',
    notification: { email: true, sms: true },
  },
  emailNotifications: {
    assignmentCreated: true,
    workerDocumentExpiration: true,
    workerDocExpirationLiveOnly: true,
  },
  specificTimesheetApprovers: { enabled: true },
  afpConfig: {
    enabled: false,
    reviewPeriodDays: 7,
    hideInvoicesAndCreditNotes: false,
    autoCreatePaymentNotice: false,
  },
})

const required = { required: false, company: true, supplier: true }
const allowed = { company: true, supplier: false }
const suppliers = {
  supplierActions: {
    sds: required,
    sdc: required,
    kid: { ...required, required: true },
    confirm: { company: true, supplier: true },
    amendPayRateType: allowed,
    amendShift: allowed,
    amendTrade: allowed,
    markInvoicePaid: allowed,
  },
  assignmentRequirements: { sds: required, sdc: required, kid: required, confirm: allowed },
}

const phrase = (singular: string, plural: string) => ({ singular, plural })
const workerPhrases = [phrase('Worker', 'Workers'), phrase('Operative', 'Operatives')]

function companyConfig(draw: Draw, { msp, enhancedUplifts }: Record<'msp' | 'enhancedUplifts', boolean>) {
  return {
    ...approval(draw),
    ...(Object.fromEntries(switchNames.map(name => [name, draw.chance(0.4)])) as Record<string, boolean>),
    rateUplifts,
    tierRules: [
      { value: 24, tier: 1, isActive: true },
      { value: 48, tier: 2, isActive: draw.chance(0.5) },
    ],
    invoiceBasis: draw.between(1, 2),
    weekendDay: 'sunday',
    userInactivityMonths: draw.pick([3, 6, 12]),
    enhancedUplifts: { enabled: enhancedUplifts, mode: 'weekly', weekly, days: {} },
    workingRuleAgreement: { enabled: draw.chance(0.3), accommodation },
    creditNotes: { displayAsNegativeOnExports: true },
    ...workflow(msp),
    ...suppliers,
    invoiceCustomization: {
      selfBilleeLabel: 'Supplier',
      selfBillerLabel: 'Customer',
      selfBillInvoiceLabel: 'Self-bill invoice',
      selfBillCreditNoteLabel: 'Self-bill credit note',
      vatDisclaimer: { enabled: draw.chance(0.5), text: 'The VAT shown is your output tax due to HMRC' },
      showSiteName: true,
      logoSource: 'company',
    },
    preferredPhrasing: {
      trade: phrase('Trade', 'Trades'),
      worker: draw.pick(workerPhrases),
      supplier: phrase('Agency', 'Agencies'),
      purchaseOrder: phrase('Purchase order', 'Purchase orders'),
    },
    metaFields: metaFieldDefinitions,
  }
}

function approval(draw: Draw) {
  return {
    restrictions: [
      {
        type: 'role',
        item: 'timesheet.approve',
        label: 'Approve timesheets',
        description: 'Only approvers of the project approve its timesheets',
        affectedRoles: ['projectRequestor'],
        exceptionUsers: [],
        enabled: draw.chance(0.5),
      },
    ],
    candidateRequirements: {
      trade: true,
      available: true,
      verified: draw.chance(0.5),
      rtw: true,
      id: true,
      competencyMatrix: true,
      allowExpiredCompetency: false,
      cscsVerification: draw.chance(0.5),
    },
  }
}
