/** One seed of the model: nights of syncs and sweeps in bad weather, then quiet ones in which everything must be found. */
import { namedRng } from '../../src/lib/rng.ts'
import { type Mistakes, ModelledWarehouse } from './modelled-sweeps.ts'
import { type Row, VanishingList, type Weather } from './vanishing-list.ts'

function weatherOf(seed: number): Weather {
  const rng = namedRng(seed, 'weather')
  const often = (most: number): number => (rng() < 0.5 ? 0 : rng() * most)
  // Where the scope has just changed only few rows are judged, and what is hidden without a word can be as few as that.
  const isScopeOrHiding = rng() < 0.5
  return {
    changes: often(0.6),
    deletions: often(0.3),
    late: often(0.1),
    ties: rng() < 0.3,
    lostRows: often(0.2),
    laggingCopy: often(0.05),
    wrongTotal: often(0.1),
    refusals: often(0.03),
    scopeChanges: isScopeOrHiding ? often(0.05) : 0,
    hiding: isScopeOrHiding ? 0 : often(0.04),
    flicker: often(0.3),
    deadGateway: often(0.2),
  }
}

const calm: Weather = {
  changes: 0,
  deletions: 0,
  late: 0,
  ties: false,
  lostRows: 0,
  laggingCopy: 0,
  wrongTotal: 0,
  refusals: 0,
  scopeChanges: 0,
  hiding: 0,
  flicker: 0,
  deadGateway: 0,
}

/** A short list that the service shows as empty, or without most of its rows, for some nights; on others one row is deleted. */
export async function shortHistory(seed: number, mistakes: Mistakes = {}): Promise<History> {
  const rng = namedRng(seed, 'short')
  const list = new VanishingList(namedRng(seed, 'list'), calm, 3 + Math.floor(rng() * 27))
  const hasSingleRead = rng() < 0.5
  const warehouse = new ModelledWarehouse(list, { mistakes, hasSingleRead })
  const missed: string[] = []
  let hidden = 0
  for (let night = 0; night < nights; night += 1) {
    warehouse.sync(1, () => 0)
    const isHidden = rng() < 0.6
    const gone =
      isHidden || list.rows.length < 3 ? undefined : list.remove(Math.floor(rng() * list.rows.length))
    if (isHidden) list.hideMost()
    hidden += Number(isHidden)
    warehouse.hear()
    for (let sweep = 0; sweep < 3; sweep += 1) await warehouse.sweep()
    if (gone && !warehouse.held.get(gone.id)?.isDeleted) missed.push(gone.id)
    list.show()
  }
  const happened = { hidden, ...warehouse.counts }
  return { falseTombstones: warehouse.false, tombstones: warehouse.tombstones, missed, happened }
}

export interface History {
  readonly falseTombstones: readonly string[]
  readonly tombstones: number
  /** Deletions of a quiet time that were not found in as many sweeps as they need. */
  readonly missed: readonly string[]
  readonly happened: Readonly<Record<string, number>>
}

const nights = 6

export async function history(seed: number, mistakes: Mistakes = {}): Promise<History> {
  const rng = namedRng(seed, 'sweeps')
  const list = new VanishingList(namedRng(seed, 'list'), weatherOf(seed), 30 + Math.floor(rng() * 400))
  const hasSingleRead = rng() < 0.4
  const warehouse = new ModelledWarehouse(list, { mistakes, hasSingleRead })
  // The first sync reads everything: of rows that were hidden from it too few would be missed to be noticed.
  list.isQuiet = true
  warehouse.sync(1, rng)
  list.isQuiet = false
  for (let night = 0; night < nights; night += 1) {
    if (rng() < 0.8) warehouse.sync(rng() < 0.3 ? rng() : 1, rng)
    warehouse.hear()
    await warehouse.sweep()
  }
  list.isQuiet = true
  // What was deleted in the storm may be more than is believed at once: somebody says that it is.
  for (let run = 0; run < 3; run += 1) {
    warehouse.sync(1, () => 0)
    await warehouse.sweep(1000)
  }
  const gone = Array.from({ length: 5 }, () => list.remove(Math.floor(rng() * list.rows.length)))
  const visible = gone.flatMap(row => (row && list.visible.has(row.company) ? [row.id] : []))
  await warehouse.sweep()
  if (!hasSingleRead) await warehouse.sweep()
  // A company that lost all of its rows, or a list more than half, waits for somebody who says that they are gone.
  const isEmptied = ({ company }: Row): boolean => list.rows.every(row => row.company !== company)
  const isBelieved = list.rows.length >= gone.length && !gone.some(row => row && isEmptied(row))
  const missed = isBelieved ? visible.filter(id => !warehouse.held.get(id)?.isDeleted) : []
  const happened = { ...list.happened, ...warehouse.counts }
  return { falseTombstones: warehouse.false, tombstones: warehouse.tombstones, missed, happened }
}
