/** Rules that name qualifications: of a matrix, of a trade, or of one assignment. */
import {
  type Column,
  constant,
  derived,
  keyOf,
  ofParent,
  ofRoot,
  ordinal,
  ref,
  text,
} from '../fields/column.ts'
import { each, fact } from '../fields/table.ts'

/** The differences between the records that carry such rules. */
export interface RuleOwner {
  readonly entity: 'competency_entry' | 'trade' | 'assignment'
  /** Column of the record's own row that identifies it. */
  readonly key: string
  /** Place of the entry that a rule belongs to, where one record has several. */
  readonly entry?: Column
  /** Columns company_id, project_id, trade_id, sector_id and source of a rule. */
  readonly place: Readonly<Record<'company_id' | 'project_id' | 'trade_id' | 'sector_id' | 'source', Column>>
}

/** Repeats these columns on a row below the rule. */
const repeated = (place: RuleOwner['place']): Record<string, Column> =>
  Object.fromEntries(
    Object.entries(place).map(([name, { description }]) => [name, { ...ofParent(name), description }]),
  )

function ownerColumns({ entity, key }: RuleOwner): Record<string, Column> {
  return {
    competency_entry_key: {
      ...ofRoot(key),
      description: 'Key of the matrix entry, or id of the trade or assignment that it belongs to.',
    },
    entity: constant(entity, 'Kind of record: competency_entry, trade or assignment.'),
  }
}

function requirement<const Logic extends 'items' | 'groups'>(owner: RuleOwner, logic: Logic, group: Column) {
  return each(
    (logic === 'items' ? 'items' : 'groups[].items') as Logic extends 'items' ? 'items' : 'groups[].items',
    fact('competency_requirement', 'One row per qualification that a competency rule names.', {
      competency_requirement_key: keyOf('competency_rule_key', 'logic', 'group_ordinal', 'item_ordinal'),
      competency_rule_key: ofParent('competency_rule_key'),
      ...ownerColumns(owner),
      ...repeated(owner.place),
      rule: { ...ofParent('rule'), description: 'Kind of rule; the contract shows mandatory.' },
      logic: constant(
        logic,
        'items: listed by itself; groups: one of a group. The contract does not say how they combine.',
      ),
      group_ordinal: group,
      item_ordinal: ordinal('Position in its list, from 1.', logic === 'items' ? 0 : 1),
      qualification_id: {
        ...ref('', 'qualification', { name: 'name' }),
        source: { from: 'derived', sql: `coalesce(md5(lower(qualification_id__name)), '-1')` },
        description: 'md5 of the name in lower case.',
      },
    }),
  )
}

const noGroup: Column = {
  ...ordinal(),
  source: { from: 'derived', sql: '0' },
  description: 'Group, 0 for none.',
}

const onlyEntry = derived('integer', '1', '')

/** The list of rules at `path`, and below each rule the qualifications it names. */
export function competencyRules<const At extends string>(path: At, owner: RuleOwner) {
  const { entry = onlyEntry, place } = owner
  return each(
    path,
    fact('competency_rule', 'One row per rule of a matrix entry, of a trade or of an assignment.', {
      competency_rule_key: keyOf('entity', 'competency_entry_key', 'entry_ordinal', 'rule_ordinal'),
      ...ownerColumns(owner),
      ...place,
      entry_ordinal: { ...entry, description: 'Position of the entry in the matrix of a trade, else 1.' },
      rule_ordinal: ordinal(),
      rule: text('rule', 'Kind of rule; the contract shows mandatory.'),
      items: requirement(owner, 'items', noGroup),
      groups: requirement(owner, 'groups', ordinal('Group, from 1.', 0)),
    }),
  )
}
