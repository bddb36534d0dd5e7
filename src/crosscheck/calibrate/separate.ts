/** Looks in our own data for a group on which two readings differ, and asks the service for that group alone. */

import type { MetricDefinition, Rule } from '../definition.ts'
import { type Grouping, groupingOf } from '../metric-query.ts'
import type { MetricReader } from '../our-metrics.ts'
import { type OurGroup, ourMetrics } from '../our-metrics.ts'
import type { Probing } from './window-probes.ts'

/** Every one names a project or an agency, so that the service can be asked for one group's neighbours only. */
const groupings = ['project', 'agency', 'project,agency', 'agency,month', 'project,month', 'agency,week'].map(
  words => groupingOf(words) as Grouping,
)

const separable = ['bounds', 'quantiles', 'valueQuantiles', 'days'] as const satisfies readonly Rule[]

const probesEach = 2

interface Separation extends Probing {
  /** After an answer more: everything that rests on the rule. */
  readonly refit: () => Promise<void>
}

export async function separate(
  engine: MetricReader,
  { asker, evidence, fit, refit }: Separation,
): Promise<void> {
  for (const rule of separable) {
    for (let probe = 0; probe < probesEach && fit.isOpen(rule); probe += 1) {
      const [first, second] = fit.alive(rule)
      const found = await differing(
        engine,
        { ...fit.definition, [rule]: first },
        { ...fit.definition, [rule]: second },
      )
      if (!found) break
      const { project, agency } = found.keys
      const grouping = groupingOf(found.groupBy) as Grouping
      evidence.add(await asker.ask({ metric: 'timeToFill', grouping, project, agency }, 1))
      await refit()
    }
  }
}

async function differing(
  engine: MetricReader,
  left: MetricDefinition,
  right: MetricDefinition,
): Promise<OurGroup | undefined> {
  const query = { metric: 'timeToFill', groupings } as const
  const byKey = new Map((await ourMetrics(engine, query, right)).map(group => [nameOf(group), group]))
  return (await ourMetrics(engine, query, left)).find(group => {
    const other = byKey.get(nameOf(group))
    return other && JSON.stringify(other.figures) !== JSON.stringify(group.figures)
  })
}

const nameOf = ({ groupBy, groupKey }: OurGroup): string => `${groupBy}:${groupKey}`
