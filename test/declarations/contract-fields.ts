/** Every field that the contract documents for the records it shows, typed from its tables by hand. */

const dots = (prefix: string, names: string): string[] => names.split(' ').map(name => `${prefix}${name}`)
const list = (names: string): string[] => dots('', names)
const ref = (path: string): string[] => dots(`${path}.`, 'id name')
const refs = (paths: string): string[] => list(paths).flatMap(ref)
/** Each of these objects has each of these fields. */
const each = (prefix: string, keys: string, names: string): string[] =>
  list(keys).flatMap(key => dots(`${prefix}${key}.`, names))

const project = [
  ...list('id name code email phone.countryCode phone.number active singleSite siteCount'),
  ...refs('company region sector'),
  ...list('dates.start dates.end config createdAt updatedAt'),
]

const site = [
  ...list('id name email active phone.countryCode phone.number'),
  ...refs('project company'),
  ...list('address.line1 address.city address.postcode address.anyFurtherKey createdAt updatedAt'),
]

const configBooleans =
  'supplierOverride allowTsImport mandatoryPo prefillTimesheets timesheetActiveAssignments mandatoryMfa autoAssign timesheetsAutoApproved markupIncludeEmp includeEmployerCosts mandatoryPoForApproval requiresPoForReq autoLinkPo allowShiftBasedRequisitions costCodeAllocationRequired'

const preferredPhrasing = each(
  'config.preferredPhrasing.',
  'trade worker supplier purchaseOrder',
  'singular plural',
)
const actions = (owner: string): string[] => [
  ...each(`config.${owner}.`, 'sds sdc kid', 'required company supplier'),
  ...each(`config.${owner}.`, 'confirm', 'company supplier'),
]

const companyConfig = [
  ...dots('config.restrictions[].', 'type item label description enabled affectedRoles[] exceptionUsers[]'),
  ...dots(
    'config.candidateRequirements.',
    'trade available verified rtw id competencyMatrix allowExpiredCompetency cscsVerification',
  ),
  ...dots('config.', configBooleans),
  ...dots('config.rateUplifts[].', 'description type uplift'),
  ...dots('config.tierRules[].', 'value tier isActive'),
  ...dots('config.', 'invoiceBasis weekendDay userInactivityMonths'),
  ...dots('config.multiStageApproval.', 'req.status req.totalStage req.stageNames[] timesheet'),
  ...dots('config.leadTimeWarning.', 'enabled days email'),
  ...dots('config.timesheetAdjustment.', 'company supplier'),
  ...dots('config.mspConfig.', 'enabled msps[] billing'),
  ...dots('config.workerTsConfig.', 'workerCanViewTs workerCanAmendTs workerCanAllocateCostCodes'),
  ...dots('config.workerTsConfig.workerTsNotification.', 'email sms'),
  ...dots('config.invoiceScheduling.', 'enabled frequency dayOfWeek dayOfMonth time'),
  ...dots(
    'config.invoiceCustomization.',
    'selfBilleeLabel selfBillerLabel selfBillInvoiceLabel selfBillCreditNoteLabel vatDisclaimer.enabled vatDisclaimer.text showSiteName logoSource',
  ),
  ...dots('config.assignmentCreated.', 'enabled preInductionUrl notification.email notification.sms'),
  ...actions('supplierActions'),
  ...each(
    'config.supplierActions.',
    'amendPayRateType amendShift amendTrade markInvoicePaid',
    'company supplier',
  ),
  ...actions('assignmentRequirements'),
  ...dots(
    'config.emailNotifications.',
    'assignmentCreated workerDocumentExpiration workerDocExpirationLiveOnly',
  ),
  ...list('config.specificTimesheetApprovers.enabled config.creditNotes.displayAsNegativeOnExports'),
  ...dots(
    'config.workingRuleAgreement.',
    'enabled accommodation.enabled accommodation.dailyAmount accommodation.preferredLabel accommodation.showInTotalsSeparately accommodation.lodge.anyKey',
  ),
  ...dots(
    'config.enhancedUplifts.',
    'enabled mode weekly.threshold weekly.enforce weekly.reduce weekly.blockThresholds.0 days.monday.anyKey',
  ),
  ...preferredPhrasing,
  ...dots('config.afpConfig.', 'enabled reviewPeriodDays hideInvoicesAndCreditNotes autoCreatePaymentNotice'),
  ...list('config.metaFields[].anyKey'),
]

const company = [
  ...list('id name prefix email companyNumber industry active projectCount phone.countryCode phone.number'),
  ...dots('address.', 'lineOne lineTwo city region country code latitude longitude'),
  ...dots(
    'finance.',
    'vat companyNumber accountName bankName accountNumber sortCode utr billingName financeCompany',
  ),
  ...dots('finance.', 'cis.anyKey billing.anyKey financeEmail.anyKey paymentTerms.days paymentTerms.term'),
  ...each('finance.costs.', 'markup emp[]', 'name key value basedOn[] sectors[]'),
  ...companyConfig,
  ...list('createdAt updatedAt'),
]

const user = list(
  'id reference name firstName lastName email jobTitle phone countryCode role active verified companies[] projects[] agencies[] createdAt updatedAt',
)

const companyUser = [...list('id name email jobTitle role status'), ...ref('projects[]')]

const metricRow = list(
  'reqRef reqCreated reqStart project trade supplier worker submitted cvReviewed interviewed offerMade offerAccepted offerRejected assigned missingCompliance managerReviewDays timeToInterviewDays timeToOfferDays timeToFillDays timeToOfferAcceptedDays offerToStartDays currentStage cvRejected',
)

const matrixEntry = [
  ...refs('trade project sector'),
  ...list('source requirements[].rule requirements[].items[].name requirements[].groups[].items[].name'),
]

const answers = [
  ...dots(
    'submissionAnswers[].',
    'fieldId label fieldType value answerScope submissionId workerIds[] displayLocations[] submittedAt submittedBy updatedAt updatedBy',
  ),
  ...refs('submissionAnswers[].agency submissionAnswers[].worker'),
]

const rate = 'pay emp margin charge'
const lineValues = 'units payValue empValue marginValue chargeValue'

const timelogs = [
  ...dots('timelogs[].', 'id status date start end shiftType breaks rateDescription'),
  ...dots('timelogs[].hours.', 'standard overtime total'),
  ...dots('timelogs[].rates.', rate),
  ...each('timelogs[].values.', rate, 'standard overtime total'),
  ...dots('timelogs[].costCodeAllocations[].', 'hours costCode.name costCode.description'),
]

const pieceRates = [
  ...dots('pieceRateEntries[].', 'id pieceRateId code name unitLabel unitLabelPlural frequency rateType'),
  ...dots('pieceRateEntries[].values.', rate),
  ...dots('pieceRateEntries[].totals.', lineValues),
  ...dots('pieceRateEntries[].lines[].', `id date comment costCode.name costCode.description ${lineValues}`),
]

const timesheet = [
  ...list('id reference status assignment.id assignment.reference payType rateType'),
  ...refs('worker company project site agency approvedBy timesheetApprovers[]'),
  ...list('start end weekEnding approvedDate createdAt updatedAt version netHours'),
  ...dots('approvalRequestedBy.', 'id name type'),
  ...each('rates.', 'wd wdNw weNw bh bhNight sat sun ot', `${rate} uplift`),
  ...each(
    'values.',
    'pay charge',
    'wdBasic wdOvertime wdNightwork weNightwork bankHoliday bankHolidayNight saturday sunday saturdayNightwork sundayNightwork total',
  ),
  'values.expense',
  ...pieceRates,
  ...timelogs,
  ...answers,
]

const expense = [
  ...list('id status category description noReceiptReason date approvalDate createdAt updatedAt value hours'),
  ...list('rate.value rate.description wra.applicable wra.dailyAmount wra.daysPaid'),
  ...list('costCode.name costCode.description receipts[].fileName receipts[].url receipts[].created'),
  ...dots('worker.', 'id reference name'),
  ...each('', 'timesheet invoice afp', 'id reference'),
  ...refs('company project agency createdBy approvedBy'),
]

const invoice = [
  ...list('id reference status invoiceType mspInvoiceType timesheets[].id timesheets[].reference'),
  ...refs('company agency msp projects[]'),
  ...list('weekEnding due confirmedDate createdAt updatedAt confirmedBy.anyKey payment.anyKey'),
  ...list('reason comments vatToBeApplied files.invoice files.timesheetSnapshot'),
  ...dots(
    'values.',
    'grossHours netHours subtotal vat total cis cisRate vatRate finalTotal expenses creditNotes netValue',
  ),
]

const requisition = [
  ...list('id reference status quantity autoAssign approvedDate startDate endDate createdAt updatedAt'),
  ...each('', 'requestor approver', 'name email'),
  ...dots('approvalStages[].', 'stage name approved approvedAt approver.name approver.email'),
  ...refs('company project region sector site trade activity'),
  ...dots('cancellation.', 'reason date comments'),
  ...dots('agencies[].', 'id name offered assigned dateReceived dateAccepted'),
  ...dots('agencies[].submissions[].', 'submittedAt isRejected rejectionReason'),
  ...refs('agencies[].submissions[].worker agencies[].submissions[].submittedBy'),
  ...refs('agencies[].submissions[].assignedBy stageTracking[].worker stageTracking[].agency'),
  ...dots('stageTracking[].', 'submittedAt isRejected stage stageLabel'),
  ...dots('stageTracking[].history[].', 'stage stageLabel at byUserId byName comments'),
  ...answers,
]

const requirements = (path: string): string[] => dots(`${path}[].`, 'rule items[].name groups[].items[].name')

const assignment = [
  ...list('id reference status payType rateType umbrella workActivity purchaseOrder'),
  ...refs('company project region sector site trade tag agency worker'),
  ...list('worker.reference requisition.id requisition.reference requisition.nanoid'),
  ...list('startDate endDate timesheetStartDate completedDate confirmationDate createdAt updatedAt'),
  ...list('weeksElapsed workerDistanceToSite workerLodgeDistanceToSite'),
  ...each('shiftPattern.', 'm t w th f s su', 'start end active break night'),
  ...list('costCode.name costCode.description rates.pay rates.charge values.pay values.charge'),
  ...each('rateOverrides.', 'markup employerCosts', 'active value'),
  ...dots('rateUplifts.', 'bh bhNw wdOt sat sun wdNw weNw'),
  ...each('', 'reinstatement ended', 'reason date comments user.id user.name'),
  ...dots('', 'enhancedUplifts.anyKey cancellation.anyKey sds.anyKey assignedBy.anyKey'),
  ...list('sdc.status sdc.attachment kid'),
  ...dots('activities[].', 'created activityType user userId entity.id entity.name reason comments message'),
  ...each('replacement.', 'replacedBy replacementFor', 'id reference'),
  ...dots('replacement.', 'requisition.id requisition.reference requisition.nanoid reason type'),
  ...list('clone.date clone.original.id clone.original.reference'),
  ...dots('lodge.', 'dailyAmountOverride distanceMiles'),
  ...dots('lodge.address.', 'lineOne city country code'),
  ...dots('lodge.travel.', 'walkMinutes busMinutes carMinutes trainMinutes calculatedAt'),
  'lodgeApplicable',
  ...requirements('competencyRequirements'),
  ...dots('customDocuments[].', 'id name description required attachment uploadedBy uploadedAt expiry'),
  ...dots('customDocuments[].uploadPermissions.', 'company supplier'),
  ...dots('metaFields[].', 'id title type value display[]'),
  ...answers,
]

const engagements = 'cis paye psc'

const rateRecord = (at: string): string[] => [
  ...each(`${at}rates.`, engagements, `${rate} comparablePayRate`),
  ...each(`${at}dayRates.`, engagements, rate),
  ...dots(`${at}pieceRates[].`, 'id code name unitLabel unitLabelPlural frequency'),
  ...each(`${at}pieceRates[].values.`, engagements, rate),
  ...['region', 'sector', 'project', 'agency'].flatMap(one => ref(`${at}${one}`)),
  `${at}id`,
]

const trade = [
  ...list('id name description active createdAt updatedAt'),
  ...refs('company masterTrade'),
  ...dots('tags[].', 'id name description'),
  ...rateRecord('rates[].'),
  ...ref('competencyMatrix[].sector'),
  ...requirements('competencyMatrix[].requirements'),
]

const creditNote = [
  ...list('id reference status creditNoteType mspCreditNoteType reason comments'),
  ...refs('company agency msp project confirmedBy'),
  ...each('', 'invoice timesheet', 'id reference'),
  ...list('confirmedDate weekEnding createdAt updatedAt payment.reference payment.paymentDate'),
  ...list('vatToBeApplied files.creditNote'),
  ...dots('values.', 'grossHours netHours subtotal vat total cis cisRate vatRate finalTotal'),
]

const purchaseOrder = [
  ...list('id reference status tradeOption startDate endDate createdAt updatedAt value allTrades'),
  ...refs('company site agency projects[] trades[] tag revoked.user'),
  ...list('revoked.date reinstated.anyKey'),
]

const key = [
  ...list(
    'name description scopes[] rateLimitPerMinute rateLimitPerDay ipAllowlist expiresAt lastUsedAt createdAt',
  ),
  ...dots('usage.', 'requestsToday remainingToday resetsAt'),
  ...refs('companies[] agencies[]'),
]

/** By resource; anyKey stands for keys that the contract does not show. */
export const contractFields: Readonly<Record<string, readonly string[]>> = {
  key,
  companies: company,
  projects: project,
  sites: site,
  users: user,
  timesheets: timesheet,
  expenses: expense,
  invoices: invoice,
  'access-rules': list('id a can configKey type'),
  'user-assignments': companyUser,
  'user-permissions': [...companyUser, ...dots('projects[].permissions[].', 'id name category permitted')],
  'competency-matrix': matrixEntry,
  'metric-rows': metricRow,
  requisitions: requisition,
  assignments: assignment,
  trades: trade,
  rates: [...rateRecord(''), ...refs('trade company'), ...list('createdAt updatedAt')],
  'credit-notes': creditNote,
  'purchase-orders': purchaseOrder,
}
