/** Papers of an assignment, and who may do what. */
import type { Row, Story } from './story.ts'

const permission = (user: string, name: string, more: Row): Row => ({
  user_permission_key: `${user} ${name} ${more.is_permitted}`,
  company_id: 'c1',
  user_id: user,
  project_id: 'p1',
  permission_id: name,
  ...more,
})

const setting = (path: string, value: boolean): Row => ({
  company_setting_key: path,
  company_id: 'c1',
  setting_path: path,
  value_boolean: value,
})

const paper = (ordinal: number, more: Row): Row => ({
  assignment_document_key: `d${ordinal}`,
  assignment_id: 'a1',
  document_ordinal: ordinal,
  name: `Document ${ordinal}`,
  is_required: true,
  has_attachment: true,
  ...more,
})

export const papers: Story = {
  'star.dim_company_setting': [
    setting('assignmentRequirements.kid.required', true),
    setting('assignmentRequirements.sds.required', false),
    setting('assignmentRequirements.confirm.company', false),
    setting('assignmentRequirements.confirm.supplier', true),
  ],
  'star.fact_assignment_document': [
    paper(1, { expires_at: '2026-11-20T12:00:00Z' }),
    paper(2, { expires_at: '2026-11-01T12:00:00Z' }),
    paper(3, { has_attachment: false }),
    paper(4, { expires_at: '2027-06-01T12:00:00Z' }),
    paper(5, { has_attachment: false, is_required: false }),
  ],
  'star.fact_competency_requirement': [
    {
      competency_requirement_key: 'q',
      competency_entry_key: 'a1',
      entity: 'assignment',
      rule: 'mandatory',
      qualification_id: '-1',
    },
  ],
  'star.dim_user': [
    { user_id: 'u1', is_active: true, is_inferred: false },
    { user_id: 'u2', is_active: true, is_inferred: false },
    { user_id: 'u3', is_active: false, is_inferred: false },
  ],
  'star.bridge_user_access': [
    { user_access_key: 'm1', company_id: 'c1', user_id: 'u1', status: 'Active' },
    { user_access_key: 'm2', company_id: 'c1', user_id: 'u2', status: 'Inactive' },
  ],
  'star.fact_user_permission': [
    permission('u1', 'approve', { is_permitted: true }),
    permission('u1', 'amend', { is_permitted: false }),
    permission('u2', 'approve', { is_permitted: false }),
    // Listed twice: what one of them permits is permitted.
    permission('u2', 'approve', { is_permitted: true }),
    permission('u3', 'approve', { is_permitted: true }),
  ],
}
