/** How many records a run will fetch by id, for whoever watches: those that are due, and those that these will name. */
import { edges } from '../../contract/derived/discovery.ts'
import type { KeyKind } from '../../contract/fields/resource.ts'

/** Ids of one resource. */
export interface IdCounts {
  readonly resource: string
  /** To be fetched by this run, as far as known. */
  readonly due: number
  /** That this run has asked for. */
  readonly asked: number
  /** Stored ones that it will ask for again. */
  readonly again: number
  /** Never fetched or stored; now, and before this run fetched any record. */
  readonly known: number
  readonly knownBefore: number
  /** Of the known ones, by the column of star that named each first. */
  readonly sources: ReadonlyMap<string, number>
}

interface ToFollow {
  readonly low: number
  readonly high: number
}

/**
 * Records of one resource in a row: a load of some hundreds takes hardly longer than one of ten, and the next resource still
 * has its turn within minutes. The first turn is short, and shows early how many new ids the records name.
 */
export const perTurn = 500

/** So many records show how many new ids each names. */
export const enoughToTell = 10
/** How far the rest of the records may be from those. */
const spread = 0.2

function namedBy({ resource, due, asked, known }: IdCounts, named: IdCounts, kind: KeyKind): ToFollow {
  if (asked >= enoughToTell) {
    const each = Math.min(1, Math.max(0, named.known - named.knownBefore) / asked)
    return {
      low: Math.floor(due * each * (1 - spread)),
      high: Math.ceil(due * Math.min(1, each * (1 + spread))),
    }
  }
  // Nothing yet tells whether they are new. At most each names one, as often as those before them.
  const found = naming(named.resource, kind)
    .filter(({ from }) => from === resource)
    .reduce((sum, { table, column }) => sum + (named.sources.get(`star.${table}.${column}`) ?? 0), 0)
  const share = named.known === 0 ? 1 : Math.min(1, found / Math.max(1, known))
  return { low: 0, high: Math.ceil(due * share) }
}

/** Columns that name one record of a resource each, and nothing but it. */
const naming = (resource: string, kind: KeyKind) =>
  edges[kind].filter(edge => edge.resource === resource && !edge.brings && edge.where === undefined)

/** New ids of this resource in records of the others; in those of the resource that will fetch most. */
function toFollow(named: IdCounts, others: readonly IdCounts[], kind: KeyKind): ToFollow {
  const froms = new Set(naming(named.resource, kind).map(({ from }) => from))
  const [most] = others
    .filter(({ resource, due }) => resource !== named.resource && froms.has(resource) && due > 0)
    .toSorted((one, other) => other.due - one.due)
  return most ? namedBy(most, named, kind) : { low: 0, high: 0 }
}

/** Records of this resource in all: at least, and at most. */
export function fetchesInAll(
  of: IdCounts,
  all: readonly IdCounts[],
  kind: KeyKind,
): { readonly pagesTotal: number; readonly pagesMost: number } {
  const known = of.asked + of.due + of.again
  const { low, high } = toFollow(of, all, kind)
  return { pagesTotal: known + low, pagesMost: known + high }
}
