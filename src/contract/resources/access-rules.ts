/** The default permissions of each role, before overrides for users. */
import { id, ref, text } from '../fields/column.ts'
import { resource } from '../fields/resource.ts'
import { dimension } from '../fields/table.ts'

export const accessRules = resource({
  name: 'access-rules',
  entity: 'access_rule',
  description: 'Global defaults of what each role may do.',
  path: '/access-rule-mappings',
  keys: { agency: 'not at all' },
  // Few roles may do the same, while one role may do a hundred things.
  read: { strategy: 'snapshot', per: 'key', rows: 'data', orders: [{ sortBy: 'can' }, { sortBy: 'a' }] },
  table: dimension('access_rule', 'One row per mapping of a role to an action.', {
    access_rule_id: id('id', 'Id of the mapping.'),
    role_id: ref('a', 'role'),
    action: text('can', 'Identifier of the action.'),
    config_key: text('configKey', 'Setting that must be on, when there is one.'),
    type: text('type', 'Kind of mapping: RBAC.'),
  }),
})
