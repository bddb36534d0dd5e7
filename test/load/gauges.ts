/** A small resource of the tests' own with everything that a record may have: it loads several times faster than a timesheet. */
import {
  bookkeeping,
  constant,
  freeText,
  id,
  integer,
  json,
  keyOf,
  named,
  ofRoot,
  oneOf,
  ordinal,
  personal,
  quantity,
  ref,
  text,
} from '../../src/contract/fields/column.ts'
import { resource } from '../../src/contract/fields/resource.ts'
import { changeTimes } from '../../src/contract/fields/shared-columns.ts'
import { bridge, dimension, each, fact, type Table } from '../../src/contract/fields/table.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { tablesOfRoot, withHistory } from '../../src/warehouse/schema/physical.ts'
import { createTable } from '../../src/warehouse/schema/structure.ts'

/** Parts of two lists in one table. */
const parts = (list: string) =>
  bridge('gauge_part', 'One row per part.', {
    gauge_part_key: keyOf('gauge_id', 'list', 'part_ordinal'),
    gauge_id: ofRoot('gauge_id'),
    list: constant(list, 'List that it is in.'),
    part_ordinal: ordinal(),
    part: text('part', 'Name of the part.'),
    remark: freeText('remark', 'Words about it.'),
  })

const readings = bridge('gauge_reading', 'One row per reading.', {
  gauge_reading_key: keyOf('gauge_id', 'reading_ordinal'),
  gauge_id: ofRoot('gauge_id'),
  reading_ordinal: ordinal(),
  level: quantity('level', 'What it showed.'),
  reader_id: named('reader', 'user'),
  signature: personal(text('signature', 'Who signed.')),
})

export const gauges = resource({
  name: 'gauges',
  entity: 'gauge',
  description: 'Gauges of the tests.',
  path: '/gauges',
  read: { strategy: 'scan' },
  updatedAt: 'updatedAt',
  version: 'version',
  table: fact('gauge', 'One row per gauge.', {
    gauge_id: id('id', 'Id of the gauge.'),
    kind: oneOf('kind', ['dial', 'water level'], 'Kind.'),
    status: text('status', 'State.'),
    level: quantity('level', 'What it shows.'),
    owner_id: named('owner', 'user'),
    site_id: named('site', 'site'),
    worker_id: ref('worker.id', 'worker', { worker_reference: 'worker.reference', name: 'worker.name' }),
    tag_id: ref('tag.id', 'tag', { name: 'tag.name', description: 'tag.description' }),
    remark: freeText('remark', 'Words about it.'),
    serial: personal(text('serial', 'Serial number.')),
    ...changeTimes,
    version: bookkeeping(integer('version', 'Version of the record.')),
    spec: json('spec', 'Document.'),
    readings: each('readings', readings),
    parts: each('parts', parts('parts')),
    spares: each('spares', parts('spares')),
  }),
})

/** Owners and readers of gauges, with few of the columns that users have. */
export const owners = resource({
  name: 'users',
  entity: 'user',
  description: 'Users.',
  path: '/users',
  read: { strategy: 'scan' },
  updatedAt: 'updatedAt',
  table: dimension('user', 'One row per user.', {
    user_id: id('id', 'Id of the user.'),
    name: personal(text('name', 'Full name.')),
    job_title: text('jobTitle', 'Job title.'),
    ...changeTimes,
  }),
})

/** Makes the tables of a resource that the catalogue does not have. */
export async function createTables(engine: Engine, root: Table): Promise<void> {
  const tables = tablesOfRoot(root).flatMap(withHistory)
  await engine.run([...new Set(tables.map(table => createTable(engine, table)))].join(';'))
}
