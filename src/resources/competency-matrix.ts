/** Qualifications that a trade needs: by company, and in effect on each project. */
import {
  type Column,
  derived,
  keyOf,
  named,
  ofParent,
  ofRoot,
  oneOf,
  ordinal,
  ref,
  scope,
  text,
} from './column.ts'
import { resource } from './resource.ts'
import { type ChildDeclaration, each, fact } from './table.ts'

function requirement(logic: 'items' | 'groups', group: Column): ChildDeclaration {
  return each(
    logic === 'items' ? 'items' : 'groups[].items',
    fact('competency_requirement', 'One row per qualification that a competency rule names.', {
      competency_requirement_key: keyOf('competency_rule_key', 'logic', 'group_ordinal', 'item_ordinal'),
      competency_rule_key: ofParent('competency_rule_key'),
      competency_entry_key: ofRoot('competency_entry_key'),
      company_id: ofRoot('company_id'),
      project_id: ofRoot('project_id'),
      trade_id: ofRoot('trade_id'),
      logic: {
        ...text(
          '',
          'items: listed by itself; groups: one of a group. The contract does not say how they combine.',
        ),
        source: { from: 'constant', value: logic },
      },
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

const rule = fact('competency_rule', 'One row per rule of a competency matrix entry.', {
  competency_rule_key: keyOf('competency_entry_key', 'rule_ordinal'),
  competency_entry_key: ofRoot('competency_entry_key'),
  company_id: ofRoot('company_id'),
  rule_ordinal: ordinal(),
  rule: text('rule', 'Kind of rule; the contract has seen mandatory.'),
  items: requirement('items', noGroup),
  groups: requirement('groups', ordinal('Group, from 1.', 0)),
})

export const competencyMatrix = resource({
  name: 'competency-matrix',
  entity: 'competency_entry',
  description: 'Competency matrices of each company, and the matrix in effect on each project.',
  path: '/companies/{company}/competency-matrix',
  keys: 'company',
  read: { strategy: 'snapshot', per: 'companyProject', rows: 'data.entries', refreshDays: 7 },
  table: fact('competency_entry', 'One row per trade, project and sector of a matrix.', {
    competency_entry_key: keyOf(
      'company_id',
      'project_id',
      'trade_id',
      'override_project_id',
      'sector_id',
      'source',
      'occurrence',
    ),
    company_id: scope('company_id', 'Company that was asked for.'),
    project_id: scope(
      'project_id',
      "Project whose effective matrix it is; '-1' for the matrix of the company.",
    ),
    is_effective: derived(
      'boolean',
      `project_id <> '-1'`,
      'Whether it is the effective matrix of a project.',
    ),
    trade_id: named('trade', 'trade'),
    override_project_id: named('project', 'project'),
    sector_id: named('sector', 'sector'),
    source: oneOf('source', ['project', 'sector', 'company'], 'Where the entry comes from.'),
    occurrence: derived(
      'integer',
      `row_number() over (partition by company_id, project_id, trade_id, override_project_id, sector_id, source order by locator)`,
      'Counts entries that are alike in all of these.',
    ),
    requirements: each('requirements', rule),
  }),
})
