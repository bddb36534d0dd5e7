/** Pay and charge rates of a trade, by region, sector, project or agency. */
import { id, named, ofRoot } from '../fields/column.ts'
import { resource } from '../fields/resource.ts'
import { changeTimes } from '../fields/shared-columns.ts'
import { dimension } from '../fields/table.ts'
import { pieceRateFigures, rateFigures, rateReach } from './rate-columns.ts'

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
