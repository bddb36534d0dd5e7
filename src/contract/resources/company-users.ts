/** Users of a company with their projects, from two lists: permissions and assignments. */
import {
  type Column,
  flag,
  keyOf,
  ofParent,
  ofRoot,
  oneOf,
  ordinal,
  ref,
  scope,
  text,
} from '../fields/column.ts'
import { resource } from '../fields/resource.ts'
import { bridge, each, fact } from '../fields/table.ts'

const row = {
  company_id: scope('company_id', 'Company that the request named.'),
  user_id: {
    ...ref('id', 'user', { name: 'name', email: 'email', job_title: 'jobTitle' }),
    required: true,
  } satisfies Column,
  role_label: text('role', 'Role on projects, as displayed.'),
  status: oneOf('status', ['Active', 'Inactive'], 'Whether the user is active in the company.'),
  job_title: text('jobTitle', 'Job title.'),
}

const project = {
  company_id: ofRoot('company_id'),
  user_id: ofRoot('user_id'),
  project_ordinal: ordinal(),
  project_id: ref('id', 'project', { name: 'name' }),
}

export const userAssignments = resource({
  name: 'user-assignments',
  entity: 'company_user',
  description: 'Users of each company and the projects they are assigned to.',
  path: '/companies/{company}/user-assignments',
  keys: { agency: 'not at all' },
  read: { strategy: 'snapshot', per: 'company', rows: 'data' },
  table: bridge('company_user', 'One row per company and user.', {
    company_user_key: keyOf('company_id', 'user_id'),
    ...row,
    projects: each(
      'projects',
      bridge('company_user_project', 'One row per company, user and project assigned.', {
        company_user_project_key: keyOf('company_user_key', 'project_ordinal'),
        company_user_key: ofRoot('company_user_key'),
        ...project,
      }),
    ),
  }),
})

const permissions = fact(
  'user_permission',
  'One row per user, project and permission; a missing row does not mean denied.',
  {
    user_permission_key: keyOf('user_access_project_key', 'permission_ordinal'),
    user_access_project_key: ofParent('user_access_project_key'),
    user_access_key: ofRoot('user_access_key'),
    company_id: ofRoot('company_id'),
    user_id: ofRoot('user_id'),
    project_id: ofParent('project_id'),
    permission_ordinal: ordinal(),
    permission_id: ref('id', 'permission', { name: 'name', category: 'category' }),
    is_permitted: flag('permitted', 'Whether the role or an override of the user permits it.'),
  },
)

export const userPermissions = resource({
  name: 'user-permissions',
  entity: 'user_access',
  description: 'Users of each company and what they may do on their projects.',
  path: '/companies/{company}/user-permissions',
  keys: { agency: 'not at all' },
  read: { strategy: 'snapshot', per: 'company', rows: 'data' },
  table: bridge('user_access', 'One row per company and user whose permissions are listed.', {
    user_access_key: keyOf('company_id', 'user_id'),
    ...row,
    projects: each(
      'projects',
      bridge('user_access_project', 'One row per company, user and project with permissions.', {
        user_access_project_key: keyOf('user_access_key', 'project_ordinal'),
        user_access_key: ofRoot('user_access_key'),
        ...project,
        permissions: each('permissions', permissions),
      }),
    ),
  }),
})
