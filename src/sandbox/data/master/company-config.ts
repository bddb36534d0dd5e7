/** The config object of a company, with every key of the contract. */
import type { Draw } from '../draw.ts'

/** The same for every company; assignments hold the values. */
export const metaFieldDefinitions = [
  { id: 'induction-date', title: 'Induction date', type: 'date', display: ['assignment', 'timesheet'] },
  { id: 'gang', title: 'Gang', type: 'text', display: ['assignment'] },
] as const

interface ConfigOptions {
  readonly msp: boolean
  readonly enhancedUplifts: boolean
}

export function companyConfig(draw: Draw, options: ConfigOptions) {
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
    ...requirements(draw),
    ...switches(draw),
    ...money(draw, options),
    ...workflow(options),
    ...suppliers(),
    ...wording(draw),
    metaFields: metaFieldDefinitions,
  }
}

function requirements(draw: Draw) {
  return {
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

const switchNames = (
  'supplierOverride allowTsImport mandatoryPo prefillTimesheets timesheetActiveAssignments mandatoryMfa ' +
  'autoAssign timesheetsAutoApproved markupIncludeEmp includeEmployerCosts mandatoryPoForApproval ' +
  'requiresPoForReq autoLinkPo allowShiftBasedRequisitions costCodeAllocationRequired'
).split(' ')

function switches(draw: Draw) {
  return Object.fromEntries(switchNames.map(name => [name, draw.chance(0.4)]))
}

function money(draw: Draw, options: ConfigOptions) {
  return {
    rateUplifts: [
      { description: 'Weekday overtime', type: 'wdOt', uplift: 1.5 },
      { description: 'Saturday', type: 'sat', uplift: 1.5 },
      { description: 'Sunday', type: 'sun', uplift: 2 },
      { description: 'Bank holiday', type: 'bh', uplift: 2 },
    ],
    tierRules: [
      { value: 24, tier: 1, isActive: true },
      { value: 48, tier: 2, isActive: draw.chance(0.5) },
    ],
    invoiceBasis: draw.between(1, 2),
    weekendDay: 'sunday',
    userInactivityMonths: draw.pick([3, 6, 12]),
    enhancedUplifts: {
      enabled: options.enhancedUplifts,
      mode: 'weekly',
      weekly: { threshold: 40, enforce: false, reduce: false, blockThresholds: { 0: 40, 1: 48 } },
      days: {},
    },
    workingRuleAgreement: {
      enabled: draw.chance(0.3),
      accommodation: {
        enabled: false,
        dailyAmount: 46.5,
        paidWhenAbsent: false,
        paidWhenSick: false,
        preferredLabel: 'Lodge',
        showInTotalsSeparately: true,
        lodge: { enabled: true, minimumDistanceMiles: 50 },
      },
    },
    creditNotes: { displayAsNegativeOnExports: true },
  }
}

function workflow({ msp }: ConfigOptions) {
  return {
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
  }
}

function suppliers() {
  const required = { required: false, company: true, supplier: true }
  const allowed = { company: true, supplier: false }
  return {
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
}

function wording(draw: Draw) {
  return {
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
      trade: { singular: 'Trade', plural: 'Trades' },
      worker: draw.pick([
        { singular: 'Worker', plural: 'Workers' },
        { singular: 'Operative', plural: 'Operatives' },
      ]),
      supplier: { singular: 'Agency', plural: 'Agencies' },
      purchaseOrder: { singular: 'Purchase order', plural: 'Purchase orders' },
    },
  }
}
