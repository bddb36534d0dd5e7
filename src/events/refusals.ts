/** Refused deliveries by day and reason: counts alone, of what nobody has signed. */
import type { Engine } from '../warehouse/engine.ts'
import { quoteText } from '../warehouse/sql-text.ts'

export interface Refusals {
  /** YYYY-MM-DD, UTC. */
  readonly day: string
  readonly counts: ReadonlyMap<string, number>
}

/** One statement, and none when nothing was refused: a flood costs the warehouse a few rows a day. */
export async function addRefusals(engine: Engine, { day, counts }: Refusals): Promise<void> {
  if (counts.size === 0) return
  const rows = [...counts].map(([reason, count]) => `(cast($1 as date), ${quoteText(reason)}, ${count})`)
  await engine.run(
    `insert into ops.refused_delivery (day, reason, deliveries) values ${rows.join(', ')}
     on conflict (day, reason) do update set deliveries = refused_delivery.deliveries + excluded.deliveries`,
    [day],
  )
}
