/** Qualifications that a trade needs: by company, and in effect on each project. */
import { derived, keyOf, named, ofRoot, oneOf, related, scope } from '../fields/column.ts'
import { resource } from '../fields/resource.ts'
import { fact } from '../fields/table.ts'
import { competencyRules } from './competency-rules.ts'

export const competencyMatrix = resource({
  name: 'competency-matrix',
  entity: 'competency_entry',
  description: 'Competency matrices of each company, and the matrix in effect on each project.',
  path: '/companies/{company}/competency-matrix',
  keys: { agency: 'not at all' },
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
    company_id: scope('company_id', 'Company that the request named.'),
    project_id: scope(
      'project_id',
      "Project whose effective matrix it is; '-1' for the matrix of the company.",
    ),
    is_effective: derived(
      'boolean',
      `project_id <> '-1'`,
      'Whether it is the effective matrix of a project.',
    ),
    trade_id: related(named('trade', 'trade'), {
      of: 'trades',
      share: 0.5,
      because: 'the matrix of a trade is part of the matrix of its company',
    }),
    override_project_id: named('project', 'project'),
    sector_id: named('sector', 'sector'),
    source: oneOf('source', ['project', 'sector', 'company'], 'Where the entry comes from.'),
    occurrence: derived(
      'integer',
      `row_number() over (partition by company_id, project_id, trade_id, override_project_id, sector_id, source order by locator)`,
      'Number among entries with the same values in all of these.',
    ),
    requirements: competencyRules('requirements', {
      entity: 'competency_entry',
      key: 'competency_entry_key',
      place: {
        company_id: ofRoot('company_id'),
        project_id: ofRoot('project_id'),
        trade_id: ofRoot('trade_id'),
        sector_id: ofRoot('sector_id'),
        source: ofRoot('source'),
      },
    }),
  }),
})
