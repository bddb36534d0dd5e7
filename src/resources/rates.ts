/** What workers of a trade are paid and charged: by region, sector, project or agency. */
import { id, named, ofRoot } from './column.ts'
import { changeTimes } from './phrases.ts'
import { pieceRateFigures, rateFigures, rateReach } from './rate-columns.ts'
import { resource } from './resource.ts'
import { dimension } from './table.ts'

export const rates = resource({
  name: 'rates',
  entity: 'rate',
  description: 'Rates of trades, hourly, daily and by the piece.',
  path: '/rates/{id}',
  read: { strategy: 'hydrate' },
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
