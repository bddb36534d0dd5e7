/** Predicts how many records a run will fetch by id: those that are due, and those that these will refer to. */
import { edges } from '../../contract/derived/discovery.ts'
import type { KeyKind } from '../../contract/fields/resource.ts'

/** Counts of ids of one resource. */
export interface ResourceIdCounts {
  readonly resource: string
  /** To be fetched by this run, as far as known. */
  readonly due: number
  /** Requested by this run. */
  readonly asked: number
  /** Stored ones that it will fetch again. */
  readonly again: number
  /** Ids never fetched or stored: now, and before this run fetched any record. */
  readonly known: number
  readonly knownBefore: number
  /** Known ids by the column of star that referred to each first. */
  readonly sources: ReadonlyMap<string, number>
}

interface IdRange {
  readonly low: number
  readonly high: number
}

/**
 * Records of one resource read in a row: loading several hundred takes hardly longer than loading ten, and the next
 * resource still gets its turn within minutes. The first turn is shorter, to learn early how many new ids the records
 * refer to.
 */
export const perTurn = 500

/** This many records show how many new ids each refers to. */
export const minSample = 10
/** How much the other records may differ from those. */
const spread = 0.2

function namedBy(
  { resource, due, asked, known }: ResourceIdCounts,
  named: ResourceIdCounts,
  kind: KeyKind,
): IdRange {
  if (asked >= minSample) {
    const each = Math.min(1, Math.max(0, named.known - named.knownBefore) / asked)
    return {
      low: Math.floor(due * each * (1 - spread)),
      high: Math.ceil(due * Math.min(1, each * (1 + spread))),
    }
  }
  // It is not known yet whether they are new. At most each record refers to one, as often as the earlier records.
  const found = naming(named.resource, kind)
    .filter(({ from }) => from === resource)
    .reduce((sum, { table, column }) => sum + (named.sources.get(`star.${table}.${column}`) ?? 0), 0)
  const share = named.known === 0 ? 1 : Math.min(1, found / Math.max(1, known))
  return { low: 0, high: Math.ceil(due * share) }
}

/** Columns that each refer to a record of exactly one resource. */
const naming = (resource: string, kind: KeyKind) =>
  edges[kind].filter(edge => edge.resource === resource && !edge.brings && edge.where === undefined)

/** New ids of this resource in records of the resource that will fetch the most of those that name it. */
function toFollow(named: ResourceIdCounts, all: readonly ResourceIdCounts[], kind: KeyKind): IdRange {
  const froms = new Set(naming(named.resource, kind).map(({ from }) => from))
  const [largest] = all
    .filter(({ resource }) => froms.has(resource))
    .toSorted((one, other) => other.due - one.due)
  return largest ? namedBy(largest, named, kind) : { low: 0, high: 0 }
}

/** Minimum and maximum number of records of this resource in all. */
export function fetchesInAll(
  of: ResourceIdCounts,
  all: readonly ResourceIdCounts[],
  kind: KeyKind,
): { readonly pagesTotal: number; readonly pagesMost: number } {
  const known = of.asked + of.due + of.again
  const { low, high } = toFollow(of, all, kind)
  return { pagesTotal: known + low, pagesMost: known + high }
}
