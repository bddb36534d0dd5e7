/** Trades of a company, with their rates and the qualifications they need. */
import {
  type Column,
  derived,
  flag,
  id,
  keyOf,
  named,
  ofParent,
  ofRoot,
  ordinal,
  ref,
  text,
} from '../fields/column.ts'
import { resource } from '../fields/resource.ts'
import { changeTimes, tag } from '../fields/shared-columns.ts'
import { bridge, dimension, each, fact } from '../fields/table.ts'
import { competencyRules } from './competency-rules.ts'
import { pieceRateFigures, rateFigures, rateReach } from './rates.ts'

const tags = bridge('trade_tag', 'One row per tag of a trade.', {
  trade_tag_key: keyOf('trade_id', 'tag_ordinal'),
  trade_id: ofRoot('trade_id'),
  tag_ordinal: ordinal(),
  tag_id: tag('', 'trade', { description: 'description' }),
})

/** A trade gives enough of a rate for an inferred member, before the rate itself is read. */
function rateOfTrade(): Column {
  const known = ['trade_id', 'company_id', ...Object.keys(rateReach)]
  const column = ref('id', 'rate')
  const attributes = known.map(name => [name, { from: 'derived', sql: name }] as const)
  return {
    ...column,
    member: { dimension: 'rate', attributes: Object.fromEntries(attributes) },
    names: { resource: 'rates', brings: true },
  }
}

const rates = bridge('trade_rate', 'One row per rate of a trade, as the trade gives it.', {
  trade_rate_key: keyOf('trade_id', 'rate_ordinal'),
  trade_id: ofRoot('trade_id'),
  company_id: ofRoot('company_id'),
  rate_ordinal: ordinal(),
  rate_id: rateOfTrade(),
  ...rateReach,
  ...rateFigures,
  piece_rates: pieceRateFigures('trade', ofParent('rate_id')),
})

const competencies = fact('trade_competency', 'One row per entry of the competency matrix of a trade.', {
  trade_competency_key: keyOf('trade_id', 'entry_ordinal'),
  trade_id: ofRoot('trade_id'),
  company_id: ofRoot('company_id'),
  entry_ordinal: ordinal(),
  sector_id: named('sector', 'sector'),
  source: derived(
    'text',
    `case when sector_id = '-1' then 'company' else 'sector' end`,
    'sector when the entry names one, else company: a trade shows no entries of projects.',
  ),
  requirements: competencyRules('requirements', {
    entity: 'trade',
    key: 'trade_id',
    entry: { ...ofParent('entry_ordinal'), type: 'integer' },
    place: {
      company_id: ofRoot('company_id'),
      project_id: derived('text', `'-1'`, 'Always -1: the matrix of a trade leaves projects out.'),
      trade_id: ofRoot('trade_id'),
      sector_id: ofParent('sector_id'),
      source: ofParent('source'),
    },
  }),
})

export const trades = resource({
  name: 'trades',
  entity: 'trade',
  description: 'Trades with their tags, rates and competency matrix.',
  path: '/trades/{id}',
  query: { includeRates: 'true', includeCompetencyMatrix: 'true' },
  read: { strategy: 'byId' },
  updatedAt: 'updatedAt',
  table: dimension('trade', 'One row per trade that was read or that any record names.', {
    trade_id: id('id', 'Id of the trade.'),
    name: text('name', 'Name.'),
    description: text('description', 'What the trade is.'),
    is_active: flag('active', 'Whether it is in use.'),
    company_id: named('company', 'company'),
    master_trade_id: named('masterTrade', 'master_trade'),
    ...changeTimes,
    tags: each('tags', tags),
    rates: each('rates', rates),
    competencies: each('competencyMatrix', competencies),
  }),
})
