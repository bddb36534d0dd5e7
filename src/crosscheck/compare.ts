/** Compares our groups with the service's, figure by figure. */
import { groupBy } from '../lib/group-by.ts'
import type { MetricDefinition } from './metrics/definition.ts'
import { groupLabel, groupObject, type Keys, keysOf, type PartyNames } from './metrics/group-keys.ts'
import {
  figureNames,
  groupingName,
  type MetricFigures,
  type MetricName,
  sizeOf,
  tolerance,
} from './metrics/metric-query.ts'
import type { OurGroup } from './metrics/our-metrics.ts'
import type { MetricAnswer } from './metrics/their-metrics.ts'

export interface ComparedGroup {
  readonly groupBy: string
  readonly label: string
  /** Keys of our group; undefined when only the service has the group. */
  readonly keys: Keys | undefined
  /** As the service writes it. */
  readonly group: Readonly<Record<string, unknown>>
  readonly ours: MetricFigures | undefined
  readonly theirs: MetricFigures | undefined
}

interface LabelledSide<Side> {
  readonly label: string
  readonly side: Side
}

/** Where names replace ids, several groups may share a label: they are matched in the order of their sizes. */
function labelled<Side extends { readonly figures: MetricFigures }>(
  sides: readonly Side[],
  labelOf: (side: Side) => string,
): LabelledSide<Side>[] {
  const largestFirst = [...sides].sort((left, right) => sizeOf(right.figures) - sizeOf(left.figures))
  return [...groupBy(largestFirst, labelOf)].flatMap(([label, own]) =>
    own.map((side, index) => ({ label: index === 0 ? label : `${label}#${index}`, side })),
  )
}

/** Counts groups that only we have once every page of the answer was read. */
export function compare(
  ours: readonly OurGroup[],
  answer: MetricAnswer,
  { definition, names }: { definition: MetricDefinition; names: PartyNames },
): ComparedGroup[] {
  const name = groupingName(answer.query.grouping)
  const shaped = (own: OurGroup) => groupObject(own.keys, definition, names)
  const mine = labelled(
    ours.filter(own => own.groupBy === name),
    own => groupLabel(shaped(own)),
  )
  const byLabel = new Map(mine.map(({ label, side }) => [label, side]))
  const theirs = labelled(answer.groups, side => groupLabel(side.group)).map(({ label, side }) => {
    const own = byLabel.get(label)
    byLabel.delete(label)
    return {
      ...{ groupBy: name, label, keys: own?.keys, group: side.group },
      ...{ ours: own?.figures, theirs: side.figures },
    }
  })
  if (!answer.isComplete) return theirs
  const rest = [...byLabel].map(([label, own]) => ({
    ...{ groupBy: name, label, keys: own.keys, group: shaped(own) },
    ...{ ours: own.figures, theirs: undefined },
  }))
  return [...theirs, ...rest]
}

export interface ComparedFigure {
  readonly figure: string
  readonly ours: number | null
  readonly theirs: number | null
  /** Ours less theirs; null when either is null. */
  readonly difference: number | null
  readonly isEqual: boolean
}

/** A missing group has the counts 0 and no other figures. */
const absent = (figure: string): number | null => (tolerance(figure) === 0 ? 0 : null)

export function comparedFigures(
  { ours, theirs }: Pick<ComparedGroup, 'ours' | 'theirs'>,
  metric: MetricName,
): ComparedFigure[] {
  return figureNames[metric].map(figure => {
    const mine = ours ? (ours[figure] ?? null) : absent(figure)
    const other = theirs ? (theirs[figure] ?? null) : absent(figure)
    const difference = mine === null || other === null ? null : mine - other
    const isClose = difference !== null && Math.abs(difference) <= tolerance(figure) + 1e-9
    return { figure, ours: mine, theirs: other, difference, isEqual: mine === other || isClose }
  })
}

/** Our keys of a group, or the service's where only it has the group. */
export const keysIn = (
  { keys, group }: Pick<ComparedGroup, 'keys' | 'group'>,
  shown: { readonly definition: MetricDefinition; readonly names: PartyNames },
): Keys => keys ?? keysOf(group, shown)

export const differs = (group: ComparedGroup, metric: MetricName): boolean =>
  comparedFigures(group, metric).some(({ isEqual }) => !isEqual)
