/** Projects of the hiring companies. */
import { dayWrittenIn, flag, id, integer, json, named, personal, text, timestamp } from '../fields/column.ts'
import { resource } from '../fields/resource.ts'
import { changeTimes, phone } from '../fields/shared-columns.ts'
import { dimension } from '../fields/table.ts'

export const projects = resource({
  name: 'projects',
  entity: 'project',
  description: 'Projects of the companies that the key may read.',
  path: '/projects',
  query: { includeConfig: 'true' },
  keys: { agency: 'not at all' },
  read: { strategy: 'scan', createdBetween: {} },
  single: { path: '/projects/{id}', query: { includeConfig: 'true' } },
  updatedAt: 'updatedAt',
  table: dimension('project', 'One row per project.', {
    project_id: id('id', 'Id of the project.'),
    name: text('name', 'Name.'),
    code: text('code', 'Code.'),
    email: personal(text('email', 'E-mail address.')),
    ...phone('project'),
    is_active: flag('active', 'Whether the project is active.'),
    is_single_site: flag('singleSite', 'Whether it has one site only.'),
    site_count: integer('siteCount', 'Number of sites linked to it.'),
    company_id: named('company', 'company'),
    region_id: named('region', 'region'),
    sector_id: named('sector', 'sector'),
    planned_start_at: timestamp('dates.start', 'Planned start.'),
    planned_end_at: timestamp('dates.end', 'Planned end.'),
    planned_start_date: dayWrittenIn('planned_start_at', 'Day of the planned start.'),
    planned_end_date: dayWrittenIn('planned_end_at', 'Day of the planned end.'),
    config_json: json('config', 'Configuration; the contract does not show the keys.'),
    ...changeTimes,
  }),
})
