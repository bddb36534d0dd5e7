/** A resource that the service does not have yet: regions, which records so far only refer to. */
import { id, personal, text } from '../../src/contract/fields/column.ts'
import { resource } from '../../src/contract/fields/resource.ts'
import { changeTimes } from '../../src/contract/fields/shared-columns.ts'
import { dimension } from '../../src/contract/fields/table.ts'

export const regions = resource({
  name: 'regions',
  entity: 'region',
  description: 'Regions of the projects.',
  path: '/regions/{id}',
  read: { strategy: 'byId' },
  updatedAt: 'updatedAt',
  table: dimension('region', 'One row per region.', {
    region_id: id('id', 'Id of the region.'),
    name: text('name', 'Name.'),
    country: text('country', 'Country it is in.'),
    manager: personal(text('manager', 'Who manages it.')),
    ...changeTimes,
  }),
})
