/** Users of the service: staff of the hirer for company keys, staff of the agency for agency keys. */
import { flag, id, keyOf, ofRoot, oneOf, ordinal, personal, text } from '../fields/column.ts'
import { resource } from '../fields/resource.ts'
import { changeTimes } from '../fields/shared-columns.ts'
import { bridge, dimension, eachValue, ofPeople } from '../fields/table.ts'

export const baseRoles = [
  'companyAdmin',
  'companyFinance',
  'companyBot',
  'projectAdmin',
  'projectFinance',
  'projectApprover',
  'projectRequestor',
  'ldAdmin',
  'ldUser',
] as const

const membership = (thing: string) =>
  bridge(`user_${thing}`, `One row per user and ${thing} the user belongs to, within the scope of the key.`, {
    [`user_${thing}_key`]: keyOf('user_id', `${thing}_id`, 'membership_ordinal'),
    user_id: ofRoot('user_id'),
    membership_ordinal: ordinal(),
    [`${thing}_id`]: text('', `Id of the ${thing}.`),
  })

export const users = resource({
  name: 'users',
  entity: 'user',
  description: 'Public profiles of the users that the key may see.',
  path: '/users',
  read: { strategy: 'scan' },
  updatedAt: 'updatedAt',
  table: ofPeople(
    dimension('user', 'One row per user; names and addresses are in pii.user.', {
      user_id: id('id', 'Id of the user.'),
      reference: text('reference', 'Reference.'),
      name: personal(text('name', 'Full name.')),
      first_name: personal(text('firstName', 'First name.')),
      last_name: personal(text('lastName', 'Last name.')),
      email: personal(text('email', 'E-mail address.')),
      job_title: text('jobTitle', 'Job title.'),
      phone: personal(text('phone', 'Telephone number.')),
      country_code: personal(text('countryCode', 'Telephone country code.')),
      base_role: oneOf('role', baseRoles, 'Base role.'),
      is_active: flag('active', 'Whether the account is active.'),
      is_verified: flag('verified', 'Whether the account is verified.'),
      ...changeTimes,
      companies: eachValue('companies', membership('company')),
      projects: eachValue('projects', membership('project')),
      agencies: eachValue('agencies', membership('agency')),
    }),
  ),
})
