/** A resource of the tests' own with lists and documents, and columns that are bookkeeping or move with the clock. */
import {
  bookkeeping,
  derived,
  id,
  integer,
  json,
  keyOf,
  ofRoot,
  oneOf,
  ordinal,
  text,
  volatile,
} from '../../../src/contract/fields/column.ts'
import { resource } from '../../../src/contract/fields/resource.ts'
import { changeTimes } from '../../../src/contract/fields/shared-columns.ts'
import { bridge, each, fact } from '../../../src/contract/fields/table.ts'

const marks = bridge('cask_mark', 'One row per mark.', {
  cask_mark_key: keyOf('cask_id', 'mark_ordinal'),
  cask_id: ofRoot('cask_id'),
  mark_ordinal: ordinal(),
  mark: text('mark', 'Mark.'),
  kind: oneOf('kind', ['red', 'blue'], 'Kind.'),
  seen: bookkeeping(text('seen', 'When it was seen.')),
  moved: volatile(text('moved', 'How it moves.')),
  extra: json('extra', 'Document.'),
})
export const casks = resource({
  ...{ name: 'casks', entity: 'cask', description: 'Of the tests.', path: '/', read: { strategy: 'scan' } },
  ...{ updatedAt: 'updatedAt', version: 'version' },
  table: fact('cask', 'One row per cask.', {
    cask_id: id('id', 'Id.'),
    name: text('name', 'Name.'),
    state: oneOf('state', ['full', 'empty'], 'State.'),
    name_length: derived('integer', 'length(name)', 'Length of its name.'),
    moved: volatile(text('moved', 'How it moves.')),
    moved_length: derived('integer', 'length(moved)', 'Length of that.'),
    ...changeTimes,
    version: bookkeeping(integer('version', 'Version.')),
    spec: json('spec', 'Document.'),
    marks: each('marks', marks),
    stains: each(
      'stains',
      bridge('cask_stain', 'One row per stain.', {
        cask_stain_key: keyOf('cask_id', 'stain_ordinal'),
        cask_id: ofRoot('cask_id'),
        stain_ordinal: ordinal(),
        mark: text('mark', 'Mark.'),
      }),
    ),
  }),
})

export const time = (day: number): string => `2026-03-${String(day).padStart(2, '0')}T09:00:00.000Z`
export const cask = (parts: object = {}) => ({
  ...{
    id: 'a',
    name: 'x',
    state: 'full',
    createdAt: time(1),
    updatedAt: time(2),
    version: 1,
    moved: 'slowly',
  },
  ...{ spec: { a: 1, b: { c: 2 } }, marks: [{ mark: 'm', kind: 'red', extra: { e: 1 } }] },
  ...parts,
})
