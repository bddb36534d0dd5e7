/** Our groups beside the service's, figure by figure. */
import type { MetricDefinition } from './definition.ts'
import { groupLabel, groupObject, type Keys, type Names } from './group-shape.ts'
import { type Figures, figureNames, groupingName, tolerance } from './metric-query.ts'
import type { OurGroup } from './our-metrics.ts'
import type { Answer } from './their-metrics.ts'

export interface ComparedGroup {
  readonly groupBy: string
  readonly label: string
  /** Of our group; undefined when only the service has it. */
  readonly keys: Keys | undefined
  /** As the service writes it. */
  readonly group: Readonly<Record<string, unknown>>
  readonly ours: Figures | undefined
  readonly theirs: Figures | undefined
}

interface Labelled<Side> {
  readonly label: string
  readonly side: Side
}

/** Where names stand for ids, several groups may have one label: they are told apart by their figures' order. */
function labelled<Side extends { readonly figures: Figures }>(
  sides: readonly Side[],
  labelOf: (side: Side) => string,
): Labelled<Side>[] {
  const seen = new Map<string, number>()
  const first = (side: Side): number => Object.values(side.figures)[0] ?? 0
  return [...sides]
    .sort((left, right) => first(right) - first(left))
    .map(side => {
      const label = labelOf(side)
      const count = seen.get(label) ?? 0
      seen.set(label, count + 1)
      return { label: count === 0 ? label : `${label}#${count}`, side }
    })
}

/** Groups that only we have count when the service was asked to the end. */
export function compare(
  ours: readonly OurGroup[],
  answer: Answer,
  { definition, names }: { definition: MetricDefinition; names: Names },
): ComparedGroup[] {
  const groupBy = groupingName(answer.query.grouping)
  const shaped = (own: OurGroup) => groupObject(own.keys, definition, names)
  const mine = labelled(
    ours.filter(own => own.groupBy === groupBy),
    own => groupLabel(shaped(own)),
  )
  const byLabel = new Map(mine.map(({ label, side }) => [label, side]))
  const theirs = labelled(answer.groups, side => groupLabel(side.group)).map(({ label, side }) => {
    const own = byLabel.get(label)
    byLabel.delete(label)
    return { groupBy, label, keys: own?.keys, group: side.group, ours: own?.figures, theirs: side.figures }
  })
  if (!answer.isWhole) return theirs
  const rest = [...byLabel].map(([label, own]) => ({
    ...{ groupBy, label, keys: own.keys, group: shaped(own) },
    ...{ ours: own.figures, theirs: undefined },
  }))
  return [...theirs, ...rest]
}

export interface ComparedFigure {
  readonly figure: string
  readonly ours: number | null
  readonly theirs: number | null
  /** Ours less theirs; null when either is. */
  readonly difference: number | null
  readonly isEqual: boolean
}

/** A group that is not there has no values: its counts are 0, the rest is null. */
const absent = (figure: string): number | null => (tolerance(figure) === 0 ? 0 : null)

export function comparedFigures(
  { ours, theirs }: Pick<ComparedGroup, 'ours' | 'theirs'>,
  metric: keyof typeof figureNames,
): ComparedFigure[] {
  return figureNames[metric].map(figure => {
    const mine = ours ? (ours[figure] ?? null) : absent(figure)
    const other = theirs ? (theirs[figure] ?? null) : absent(figure)
    const difference = mine === null || other === null ? null : mine - other
    const isClose = difference !== null && Math.abs(difference) <= tolerance(figure) + 1e-9
    return { figure, ours: mine, theirs: other, difference, isEqual: mine === other || isClose }
  })
}
