/** Every field of the contract occurs in some record that is read by id, and no other field does. */
import { expect, it } from 'vitest'
import type { Collection } from '../../../src/sandbox/world.ts'
import { type Body, openSandbox } from '../open-sandbox.ts'

const sandbox = await openSandbox()

const set = (name: string) => ['pay', 'emp', 'margin', 'charge'].map(key => `${name}.${key}`)
const ref = (...names: string[]) => names.flatMap(name => [`${name}.id`, `${name}.name`])
const under = (name: string, fields: string) => fields.split(' ').map(field => `${name}.${field}`)
const answers = [
  ...under('submissionAnswers', 'fieldId label fieldType value answerScope submissionId workerIds'),
  ...under('submissionAnswers', 'displayLocations submittedAt updatedAt'),
  ...ref('submissionAnswers.agency', 'submissionAnswers.worker', 'submissionAnswers.submittedBy'),
]
const rateFields = [
  ...['cis', 'paye', 'psc'].flatMap(type => [...set(`rates.${type}`), `rates.${type}.comparablePayRate`]),
  ...['cis', 'paye'].flatMap(type => set(`dayRates.${type}`)),
  'dayRates.psc',
  ...under('pieceRates', 'id code name unitLabel unitLabelPlural frequency values.psc'),
  ...['cis', 'paye'].flatMap(type => set(`pieceRates.values.${type}`)),
]
const requirement = 'rule items.name groups.items.name'

const contract: Readonly<Record<string, readonly string[]>> = {
  '/trades': [
    ...'id name description active createdAt updatedAt tags.description'.split(' '),
    ...ref('company', 'masterTrade', 'tags'),
    'rates.id',
    ...ref('rates.region', 'rates.sector', 'rates.project', 'rates.agency'),
    ...rateFields.map(field => `rates.${field}`),
    ...ref('competencyMatrix.sector'),
    ...under('competencyMatrix.requirements', requirement),
  ],
  '/rates': [
    ...'id createdAt updatedAt'.split(' '),
    ...ref('trade', 'company', 'region', 'sector', 'project', 'agency'),
    ...rateFields,
  ],
  '/requisitions': [
    ...'id reference status quantity autoAssign approvedDate startDate endDate createdAt updatedAt'.split(
      ' ',
    ),
    ...['requestor', 'approver', 'approvalStages.approver'].flatMap(name => under(name, 'name email')),
    ...under('approvalStages', 'stage name approved approvedAt'),
    ...ref('company', 'project', 'region', 'sector', 'site', 'trade', 'activity'),
    ...under('cancellation', 'reason date comments'),
    ...under('agencies', 'id name offered assigned dateReceived dateAccepted'),
    ...under('agencies.submissions', 'submittedAt isRejected rejectionReason'),
    ...ref(
      'agencies.submissions.worker',
      'agencies.submissions.submittedBy',
      'agencies.submissions.assignedBy',
    ),
    ...ref('stageTracking.worker', 'stageTracking.agency'),
    ...under('stageTracking', 'submittedAt isRejected stage stageLabel'),
    ...under('stageTracking.history', 'stage stageLabel at byUserId byName comments'),
    ...answers,
    ...ref('submissionAnswers.updatedBy'),
  ],
  '/assignments': [
    ...'id reference status payType rateType umbrella workActivity purchaseOrder startDate endDate'.split(
      ' ',
    ),
    ...'timesheetStartDate completedDate confirmationDate createdAt updatedAt weeksElapsed kid'.split(' '),
    ...'workerDistanceToSite workerLodgeDistanceToSite lodgeApplicable'.split(' '),
    ...ref(
      'company',
      'project',
      'region',
      'sector',
      'site',
      'trade',
      'tag',
      'agency',
      'worker',
      'assignedBy',
    ),
    ...['worker.reference', ...under('requisition', 'id reference nanoid')],
    ...['m', 't', 'w', 'th', 'f', 's', 'su'].flatMap(day =>
      under(`shiftPattern.${day}`, 'start end active break night'),
    ),
    ...under('costCode', 'name description'),
    ...['rates', 'values'].flatMap(name => under(name, 'pay charge')),
    ...['markup', 'employerCosts'].flatMap(name => under(`rateOverrides.${name}`, 'active value')),
    ...under('rateUplifts', 'bh bhNw wdOt sat sun wdNw weNw'),
    'enhancedUplifts.enabled',
    ...['reinstatement', 'ended'].flatMap(name => under(name, 'reason date comments user.id user.name')),
    ...under('cancellation', 'reason'),
    ...['sds.status', ...under('sdc', 'status attachment')],
    ...under('activities', 'created activityType user userId reason comments message'),
    ...ref('activities.entity'),
    ...['replacedBy', 'replacementFor', 'requisition'].flatMap(name =>
      under(`replacement.${name}`, 'id reference'),
    ),
    ...under('replacement', 'requisition.nanoid reason type'),
    ...under('clone', 'date original.id original.reference'),
    ...under('lodge', 'dailyAmountOverride distanceMiles'),
    ...under('lodge.address', 'lineOne city country code'),
    ...under('lodge.travel', 'walkMinutes busMinutes carMinutes trainMinutes calculatedAt'),
    ...under('competencyRequirements', requirement),
    ...under('customDocuments', 'id name description required attachment uploadedAt expiry'),
    ...under('customDocuments.uploadPermissions', 'company supplier'),
    ...ref('customDocuments.uploadedBy'),
    ...under('metaFields', 'id title type value display'),
    ...answers,
    'submissionAnswers.updatedBy',
  ],
  '/credit-notes': [
    ...'id reference status creditNoteType mspCreditNoteType reason comments confirmedDate'.split(' '),
    ...'weekEnding createdAt updatedAt vatToBeApplied files.creditNote'.split(' '),
    ...ref('company', 'agency', 'msp', 'project', 'confirmedBy'),
    ...['invoice', 'timesheet'].flatMap(name => under(name, 'id reference')),
    ...under('payment', 'reference paymentDate'),
    ...under('values', 'grossHours netHours subtotal vat total cis cisRate vatRate finalTotal'),
  ],
  '/purchase-orders': [
    ...'id reference status tradeOption startDate endDate createdAt updatedAt value allTrades'.split(' '),
    ...ref('company', 'site', 'agency', 'projects', 'trades', 'tag', 'revoked.user'),
    'revoked.date',
    'reinstated.date',
  ],
}

/** Objects whose fields the contract does not show. */
const open = ['enhancedUplifts', 'sds', 'cancellation', 'assignedBy', 'reinstated']

const collections: Readonly<Record<string, readonly [Collection, string]>> = {
  '/trades': ['trades', '?includeRates=true&includeCompetencyMatrix=true'],
  '/rates': ['rates', ''],
  '/requisitions': ['requisitions', '?includeStageTracking=true'],
  '/assignments': ['assignments', ''],
  '/credit-notes': ['creditNotes', ''],
  '/purchase-orders': ['purchaseOrders', ''],
}

function leavesOf(value: Body, path: string, found: Set<string>): Set<string> {
  if (Array.isArray(value) && value.some(item => typeof item === 'object')) {
    for (const item of value) leavesOf(item, path, found)
  } else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    for (const [name, inner] of Object.entries(value)) leavesOf(inner, path ? `${path}.${name}` : name, found)
  } else if (!(Array.isArray(value) && value.length === 0)) found.add(path)
  return found
}

it.each(Object.keys(contract))('%s/{id}', async path => {
  const [collection, query] = collections[path]!
  const found = new Set<string>()
  for (const { id } of sandbox.world.all(collection)) {
    leavesOf((await sandbox.get(`${path}/${id}${query}`)).body.data, '', found)
  }
  const fields = contract[path]!
  expect(fields.filter(field => !found.has(field))).toEqual([])
  const isKnown = (leaf: string) =>
    fields.some(field => field === leaf || field.startsWith(`${leaf}.`)) || open.includes(leaf.split('.')[0]!)
  expect([...found].filter(leaf => !isKnown(leaf))).toEqual([])
})
