/** Sites where projects are carried out. */
import { derived, flag, id, json, named, personal, restricted, text } from '../fields/column.ts'
import { resource } from '../fields/resource.ts'
import { changeTimes, phone } from '../fields/shared-columns.ts'
import { dimension } from '../fields/table.ts'

export const sites = resource({
  name: 'sites',
  entity: 'site',
  description: 'Sites of the projects that the key may read.',
  path: '/sites',
  keys: { agency: 'by id' },
  read: { strategy: 'scan', createdBetween: {} },
  single: { path: '/sites/{id}', query: {} },
  updatedAt: 'updatedAt',
  table: dimension('site', 'One row per site.', {
    site_id: id('id', 'Id of the site.'),
    name: text('name', 'Name.'),
    email: personal(text('email', 'E-mail address.')),
    is_active: flag('active', 'Whether the site is active.'),
    project_id: named('project', 'project'),
    company_id: named('company', 'company'),
    ...phone('site'),
    address_line_one: personal(text('address.line1', 'Address, first line.')),
    city: text('address.city', 'City.'),
    postcode: personal(text('address.postcode', 'Postal code.')),
    postcode_area: derived(
      'text',
      `regexp_extract(upper(postcode), '^[A-Z]{1,2}')`,
      'Letters the postal code begins with.',
    ),
    address_json: restricted(
      json('address', 'The complete address; the contract does not show all of its keys.'),
    ),
    ...changeTimes,
  }),
})
