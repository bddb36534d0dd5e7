/** Documents, requirements and custom fields of an assignment. */
import { dayMs } from '../../../lib/dates.ts'
import type { Draw } from '../draw.ts'
import { iso, partId } from '../identity.ts'
import { metaFieldDefinitions } from '../master/company-config.ts'
import { agencyRoles, type Staff } from '../master/staff.ts'
import type { Engagement } from './engagements.ts'

const documents = [
  ['Site rules', 'Signed by the worker'],
  ['Medical certificate', 'For safety critical work'],
] as const

const customDocumentsShare = 0.4

export function assignmentDocuments(draw: Draw, engagement: Engagement, staff: Staff) {
  const { placement, status, startMs } = engagement
  const { id } = placement.assignment
  const file = (folder: string) => `https://files.example.com/${folder}/${id}.pdf`
  const isContractor = placement.rateType === 'psc'
  return {
    sds: isContractor ? { status: draw.pick(['inside', 'outside']), attachment: file('sds') } : undefined,
    sdc: { status: draw.chance(0.9) ? 'applies' : 'doesNotApply', attachment: file('sdc') },
    kid: status === 'pending' ? undefined : file('kid'),
    competencyRequirements: draw.chance(0.15)
      ? [
          {
            rule: 'mandatory',
            items: [{ name: 'Confined spaces' }],
            groups: [{ items: [{ name: 'First aid' }] }],
          },
        ]
      : [],
    customDocuments: draw.chance(customDocumentsShare) ? customDocuments(draw, engagement, staff) : [],
    metaFields: metaFieldDefinitions.map(({ display, ...field }) => ({
      ...field,
      value: field.type === 'date' ? iso(startMs).slice(0, 10) : `Gang ${draw.between(1, 9)}`,
      display: [...display],
    })),
  }
}

/** Documents that are not handed in yet have no attachment. */
function customDocuments(draw: Draw, { placement }: Engagement, staff: Staff) {
  const { id } = placement.assignment
  const uploader = staff.drawRef(draw, placement.agency.id, agencyRoles)
  return documents.map(([name, description], index) => {
    const documentId = partId(id, index)
    const base = {
      id: documentId,
      name,
      description,
      required: draw.chance(0.5),
      uploadPermissions: { company: true, supplier: true },
    }
    if (!uploader || !draw.chance(0.7)) return base
    return {
      ...base,
      attachment: `https://files.example.com/documents/${documentId}.pdf`,
      uploadedBy: uploader,
      uploadedAt: iso(placement.createdMs),
      expiry: iso(placement.createdMs + draw.between(100, 700) * dayMs),
    }
  })
}
