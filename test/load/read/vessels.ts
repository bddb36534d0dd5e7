/** A resource of the tests' own with every kind of column and of list. */
import {
  bookkeeping,
  type Column,
  constant,
  dayMonthYear,
  derived,
  fileUrl,
  flag,
  id,
  integer,
  json,
  keyOf,
  named,
  number,
  ofList,
  ofParent,
  ofRoot,
  ordinal,
  quantity,
  ref,
  restricted,
  scope,
  text,
  timestamp,
  volatile,
} from '../../../src/contract/fields/column.ts'
import { resource } from '../../../src/contract/fields/resource.ts'
import { changeTimes } from '../../../src/contract/fields/shared-columns.ts'
import { bridge, each, eachLeaf, eachValue, fact, only } from '../../../src/contract/fields/table.ts'

const own = (name: string) => ({
  [`${name}_key`]: keyOf('vessel_id', `${name}_ordinal`),
  vessel_id: ofRoot('vessel_id'),
  [`${name}_ordinal`]: ordinal(),
})

/** More leaves than a list may have that is carried in the stage of its parent. */
const manyFields: Readonly<Record<string, Column>> = Object.fromEntries(
  Array.from({ length: 8 }, (_, n) => [`field_${n}`, text(`field${n}`, 'A field.')]),
)

const cabins = bridge('vessel_cabin', 'One row per cabin.', {
  vessel_cabin_key: keyOf('vessel_deck_key', 'cabin_ordinal'),
  vessel_deck_key: ofParent('vessel_deck_key'),
  vessel_id: ofRoot('vessel_id'),
  home_id: ofRoot('vessel_id'),
  company_id: ofRoot('company_id'),
  cabin_ordinal: ordinal(),
  size: quantity('size', 'Its size.'),
})

const decks = bridge('vessel_deck', 'One row per deck.', {
  ...own('deck'),
  vessel_deck_key: keyOf('vessel_id', 'deck_ordinal'),
  name: text('name', 'Name.'),
  ...manyFields,
  cabins: each('cabins', cabins),
})

const steps = bridge('vessel_step', 'One row per step of a route.', {
  ...own('route'),
  step_ordinal: ordinal('Position.', 1),
  port: text('port', 'Port.'),
})

/** Read straight into its type. */
export const vessels = resource({
  name: 'vessels',
  entity: 'vessel',
  description: 'Vessels of the tests.',
  path: '/vessels',
  read: { strategy: 'scan' },
  updatedAt: 'updatedAt',
  version: 'version',
  table: fact('vessel', 'One row per vessel.', {
    vessel_id: id('id', 'Id of the vessel.'),
    company_id: scope('company_id', 'Company that was asked.'),
    fleet: constant('north', 'Fleet.'),
    name: text('name', 'Name.'),
    label: text('info.label', 'Label.'),
    crew: integer('info.crew', 'Crew.'),
    level: quantity('level', 'Level.'),
    mass: number('mass', 'Mass.'),
    is_open: flag('open', 'Whether it is open.'),
    opened_at: timestamp('openedAt', 'When it was opened.'),
    seen_date: dayMonthYear('seenOn', 'When it was seen.'),
    fourfold: derived('quantity', 'twofold * 2', 'Four times its level.'),
    twofold: derived('quantity', 'level * 2', 'Twice its level.'),
    owner_id: named('owner', 'user'),
    tag_id: { ...ref('', 'tag'), source: { from: 'derived', sql: `nullif(name, 'nameless')` } },
    photo_url: fileUrl('photo', 'Photograph.'),
    spec: json('spec', 'Document.'),
    moved: volatile(text('moved', 'How it moves.')),
    ...changeTimes,
    version: bookkeeping(integer('version', 'Version.')),
    notes: each(
      'notes',
      bridge('vessel_note', 'One row per note.', { ...own('note'), words: text('words', 'Words.') }),
    ),
    flags: eachValue(
      'flags',
      bridge('vessel_flag', 'One row per flag.', { ...own('flag'), flag: text('', 'Flag.') }),
    ),
    engine: only(
      'info.engine',
      bridge('vessel_engine', 'One row per engine.', {
        vessel_engine_key: keyOf('vessel_id'),
        vessel_id: ofRoot('vessel_id'),
        power: integer('power', 'Power.'),
      }),
    ),
    hull: only(
      'hull',
      bridge('vessel_hull', 'One row per hull.', {
        vessel_hull_key: keyOf('vessel_id'),
        vessel_id: ofRoot('vessel_id'),
        name: text('name', 'Name.'),
        ...manyFields,
      }),
    ),
    decks: each('decks', decks),
    routes: each('routes[].steps', steps),
  }),
})

const slots = bridge('box_slot', 'One row per slot.', {
  box_slot_key: keyOf('box_crate_key', 'slot_ordinal'),
  box_crate_key: ofParent('box_crate_key'),
  box_id: ofRoot('box_id'),
  slot_ordinal: ordinal(),
  size: integer('size', 'Its size.'),
})

const crates = bridge('box_crate', 'One row per crate.', {
  box_crate_key: keyOf('box_id', 'crate_ordinal'),
  box_id: ofRoot('box_id'),
  crate_ordinal: ordinal(),
  slots: each('slots', slots),
})

/** With figures of a list and a row per leaf: each record is read as JSON. */
export const boxes = resource({
  name: 'boxes',
  entity: 'box',
  description: 'Boxes of the tests.',
  path: '/boxes',
  read: { strategy: 'snapshot', per: 'key', rows: 'data' },
  table: fact('box', 'One row per box.', {
    box_id: id('id', 'Id of the box.'),
    contents: restricted(json('contents', 'What is in it.')),
    label: text('contents.label', 'Label.'),
    inner_size: text('contents.inner.size', 'Size of what is inside.'),
    lid_count: ofList('integer', { take: 'count', of: 'lids[]' }, 'Number of lids.'),
    widest: ofList('quantity', { take: 'max', of: 'lids[].width' }, 'Greatest width.'),
    narrowest: ofList('quantity', { take: 'min', of: 'lids[].width' }, 'Least width.'),
    hole_count: ofList('integer', { take: 'sum', of: 'lids[].holes[].count' }, 'Holes.'),
    red_width: ofList(
      'quantity',
      { take: 'sum', of: 'lids[].width', where: { key: 'colour', is: 'red' } },
      'Width of the red ones.',
    ),
    steepest: ofList('quantity', { take: 'max', of: 'lids[].tilt' }, 'Greatest angle.'),
    lids: each(
      'lids',
      bridge('box_lid', 'One row per lid.', {
        box_lid_key: keyOf('box_id', 'lid_ordinal'),
        box_id: ofRoot('box_id'),
        lid_ordinal: ordinal(),
        colour: text('colour', 'Colour.'),
        tilt: volatile(quantity('tilt', 'Its angle.')),
      }),
    ),
    marks: eachLeaf(
      'marks',
      bridge('box_mark', 'One row per mark.', {
        box_mark_key: keyOf('box_id', 'mark_ordinal'),
        box_id: ofRoot('box_id'),
        mark_ordinal: ordinal(),
        path: text('path', 'Path.'),
        value: text('value', 'Value.'),
        value_type: text('type', 'Type.'),
      }),
    ),
    labels: eachValue(
      'labels',
      bridge('box_label', 'One row per label.', {
        box_label_key: keyOf('box_id', 'label_ordinal'),
        box_id: ofRoot('box_id'),
        label_ordinal: ordinal(),
        label: text('', 'Label.'),
      }),
    ),
    maker: only(
      'maker',
      bridge('box_maker', 'One row per maker.', {
        box_maker_key: keyOf('box_id'),
        box_id: ofRoot('box_id'),
        trade: text('trade', 'Trade.'),
      }),
    ),
    crates: each('crates', crates),
  }),
})
