/**
 * Pay and charge rates of a trade, by region, sector, project or agency; their columns are the same in the list of the trade and
 * when read by id.
 */
import { type Column, constant, id, keyOf, money, named, ofRoot, ordinal, ref } from '../fields/column.ts'
import { resource } from '../fields/resource.ts'
import { changeTimes, type FigureColumns, type RatePart, rateSet } from '../fields/shared-columns.ts'
import { bridge, dimension, each } from '../fields/table.ts'

/** Ways to engage a worker; each has its own rates, or none. */
const engagements = ['cis', 'paye', 'psc'] as const
type EngagementKind = (typeof engagements)[number]

const setsOf = <const At extends string>(path: At, prefix: string, what: string) =>
  Object.assign(
    {},
    ...engagements.map(kind =>
      rateSet(`${path}.${kind}`, `${prefix}${kind}`, `${what} under ${kind.toUpperCase()}`),
    ),
  ) as FigureColumns<`${At}.${EngagementKind}.${RatePart}`>

/** Fifteen hourly and twelve daily figures: columns here, rows in star.fact_rate. */
export const rateFigures = {
  ...setsOf('rates', 'hourly_', 'for an hour'),
  ...(Object.fromEntries(
    engagements.map(kind => [
      `hourly_${kind}_comparable_pay_rate`,
      money(
        `rates.${kind}.comparablePayRate`,
        `Comparable pay rate for an hour under ${kind.toUpperCase()}.`,
      ),
    ]),
  ) as FigureColumns<`rates.${EngagementKind}.comparablePayRate`>),
  ...setsOf('dayRates', 'daily_', 'for a day'),
}

/** Where a rate applies, besides its trade and company. */
export const rateReach = {
  region_id: named('region', 'region'),
  sector_id: named('sector', 'sector'),
  project_id: named('project', 'project'),
  agency_id: named('agency', 'agency'),
}

/** Piece rates of a rate that was read by id (`rate`) or in its trade (`trade`). */
export function pieceRateFigures(entity: 'rate' | 'trade', rateId: Column) {
  const owner = entity === 'rate' ? 'rate_id' : 'trade_id'
  return each(
    'pieceRates',
    bridge(
      'rate_piece_rate',
      'One row per piece rate of a rate, by what it was read from: star.fact_piece_rate_card has each once.',
      {
        rate_piece_rate_key: keyOf('entity', 'rate_id', 'piece_rate_ordinal'),
        entity: constant(entity, 'What it was read from: rate, or trade.'),
        entity_id: { ...ofRoot(owner), description: 'Id of that rate or trade.' },
        rate_id: rateId,
        piece_rate_ordinal: ordinal(),
        piece_rate_id: ref('id', 'piece_rate', {
          code: 'code',
          name: 'name',
          unit_label: 'unitLabel',
          unit_label_plural: 'unitLabelPlural',
          frequency: 'frequency',
        }),
        ...setsOf('values', '', 'for a unit'),
      },
    ),
  )
}

export const rates = resource({
  name: 'rates',
  entity: 'rate',
  description: 'Rates of trades, hourly, daily and by the piece.',
  path: '/rates/{id}',
  read: { strategy: 'byId' },
  updatedAt: 'updatedAt',
  table: dimension('rate', 'One row per rate; star.fact_rate has its figures as rows.', {
    rate_id: id('id', 'Id of the rate.'),
    trade_id: named('trade', 'trade'),
    company_id: named('company', 'company'),
    ...rateReach,
    ...rateFigures,
    ...changeTimes,
    piece_rates: pieceRateFigures('rate', ofRoot('rate_id')),
  }),
})
