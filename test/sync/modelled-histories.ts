/** Random histories of a list and a scan of it, and what an accepted scan has lost. */
import { type Rng, seededRng } from '../../src/lib/rng.ts'
import { ChangingList, lag, type Row, type Weather } from './changing-list.ts'
import { type Kind, type Mistakes, type ModelledScan, modelScan, type Result } from './modelled-scan.ts'

export interface History {
  readonly seed: number
  readonly kind: Kind
  /** A scan of changes, in a list that may be filtered by updatedAt. */
  readonly part: 'none' | 'changes' | 'filtered'
  readonly weather: Weather
  /** By which our clock is ahead of the service's, in milliseconds. */
  readonly clockAhead?: number
}

const chosen = <Item>(rng: Rng, items: readonly Item[]): Item =>
  items[Math.floor(rng() * items.length)] as Item

/** Half of the histories have none of a kind of change, so that the others are not drowned by it. */
const rate = (rng: Rng, most: number): number => (rng() < 0.5 ? 0 : rng() * most)

const lies = ['cap', 'total', 'hides', 'lacks', 'cuts', 'clamps'] as const

/** Two, one or none. */
function liesOf(rng: Rng): readonly (typeof lies)[number][] {
  const first = chosen(rng, lies)
  return rng() < 0.1 ? [] : rng() < 0.5 ? [first] : [first, chosen(rng, lies)]
}

function weatherOf(rng: Rng, hasLies: boolean): Weather {
  const pageSize = chosen(rng, [1, 2, 2, 3, 5])
  const lies = hasLies ? liesOf(rng) : []
  return {
    rows: Math.floor(rng() * 14),
    pageSize,
    change: rate(rng, 0.6),
    insert: rate(rng, 0.5),
    remove: rate(rng, 0.3),
    late: rate(rng, 0.2),
    bulk: rate(rng, 0.3),
    shuffle: chosen(rng, [0, 0.3, 1]),
    tie: chosen(rng, [0, 0.3, 0.9, 1]),
    ...(lies.includes('cap') && { cap: Math.max(1, pageSize - 1 - Math.floor(rng() * 3)) }),
    // A deletion that leaves exactly as many as a cap of full pages shows cannot be told from an honest total.
    ...(lies.includes('total') && { maxTotal: Math.floor(rng() * 12), remove: 0 }),
    ...(lies.includes('hides') && { hides: chosen(rng, [2, 3, 5]) }),
    ...(lies.includes('cuts') && { cuts: Math.max(1, pageSize - 1 - Math.floor(rng() * 3)) }),
    ...(lies.includes('clamps') && { clamps: true }),
    ...(lies.includes('lacks') && { lacks: 1 + Math.floor(rng() * 3) }),
  }
}

export function historyOf(seed: number, { hasLies = false } = {}): History {
  const rng = seededRng(seed)
  const weather = weatherOf(rng, hasLies)
  const kind = chosen(rng, ['loaded', 'loaded', 'sweep', 'snapshot'] as const)
  const part = kind === 'loaded' ? chosen(rng, ['none', 'changes', 'filtered'] as const) : 'none'
  return { seed, kind, part, weather }
}

interface Ran extends Result {
  readonly list: ChangingList
  readonly job: ModelledScan
}

/** Where a scan of changes begins: an earlier one has read everything up to now. */
function partOf(list: ChangingList, part: History['part']): Pick<ModelledScan, 'known' | 'since'> {
  if (part === 'none' || list.rows.length === 0) return {}
  const watermark = Math.max(...list.rows.map(({ updated }) => updated))
  const known = { before: watermark - lag, reached: watermark }
  return part === 'filtered' ? { known, since: watermark - lag - 60_000 } : { known }
}

export async function run(
  { seed, kind, part, weather, clockAhead = 0 }: History,
  mistakes: Mistakes = {},
): Promise<Ran> {
  const rng = seededRng(seed + 1e9)
  const list = new ChangingList(weather, rng)
  const known = partOf(list, part)
  const meanwhile = part === 'none' ? 0 : Math.floor(rng() * 6)
  for (let n = 0; n < meanwhile; n += 1) list.ask(1, 1)
  const beginAt = 1 + Math.floor(rng() * 5)
  const { pageSize } = weather
  const job = { kind, pageSize, ...known, mistakes, clockAhead, ...(rng() < 0.3 && { beginAt }) }
  return { list, job, ...(await modelScan(list, job)) }
}

/**
 * Records that were in the list at the moment that was proved, are still there unchanged, and were not seen; none where a page
 * lacks rows whatever its size, and the scan says that so many are on no page.
 */
export function lost(ran: Ran): Row[] {
  const missing = missed(ran)
  const isTold = ran.list.lacksRows && missing.length <= ran.hidden
  return isTold || !ran.list.showsItsEnd ? [] : missing
}

/** The same, told or not. */
export function missed({ list, job, decision, start, seen, moments }: Ran): Row[] {
  if (decision !== 'accepted' || !start) return []
  const watermark = start.watermark === null ? Number.POSITIVE_INFINITY : Date.parse(start.watermark)
  // The next scan reads these again.
  const until = job.kind === 'loaded' ? watermark - lag : Number.POSITIVE_INFINITY
  const since = Math.max(job.known?.before ?? Number.NEGATIVE_INFINITY, job.since ?? Number.NEGATIVE_INFINITY)
  const last = new Map(list.rows.map(row => [row.id, row]))
  const { hidden } = list
  return (moments.get(start.pass) ?? []).filter(row => {
    const { id, version, updated } = row
    if (last.get(id)?.version !== version || hidden.has(id)) return false
    return updated >= since && updated < until && seen.get(id)?.version !== version
  })
}

/** How a copy of the list is kept over several scans; the mistakes are planted. */
export interface Keeping extends Mistakes {
  /** The watermark is the greatest time when the scan ended. */
  readonly endWatermark?: boolean
  /** A row at the watermark itself counts as read before. */
  readonly strict?: boolean
  /** Late records are not looked for. */
  readonly noLateScan?: boolean
}

interface Copy {
  readonly rows: Map<string, Row>
  watermark: number | undefined
}

/** False when the scan was refused, which the user is told. */
async function bringUpToDate(list: ChangingList, copy: Copy, keeping: Keeping): Promise<boolean> {
  const { pageSize } = list
  const { watermark } = copy
  const lookback = keeping.noLateScan ? 0 : lag
  const known = watermark !== undefined && {
    known: { before: watermark - lookback + (keeping.strict ? 1 + lookback : 0), reached: watermark },
  }
  const scan = await modelScan(list, { kind: 'loaded', pageSize, mistakes: keeping, ...known })
  for (const row of scan.seen.values())
    if ((copy.rows.get(row.id)?.version ?? 0) <= row.version) copy.rows.set(row.id, row)
  if (scan.decision !== 'accepted') return false
  const found = keeping.endWatermark
    ? Math.max(...list.rows.map(({ updated }) => updated))
    : Date.parse(scan.start?.watermark ?? '')
  if (!Number.isNaN(found) && Number.isFinite(found)) copy.watermark = Math.max(found, watermark ?? found)
  return true
}

/** A first scan, some more while the list changes, and two at rest: what the copy then lacks. */
export async function missingAfterwards(
  seed: number,
  keeping: Keeping = {},
  { weather } = historyOf(seed),
): Promise<string[]> {
  const rng = seededRng(seed + 2e9)
  const list = new ChangingList(weather, rng)
  const copy: Copy = { rows: new Map(), watermark: undefined }
  for (let left = 1 + Math.floor(rng() * 3); left > 0; left -= 1) await bringUpToDate(list, copy, keeping)
  list.isResting = true
  for (let left = 2; left > 0; left -= 1) if (!(await bringUpToDate(list, copy, keeping))) return []
  return list.rows.filter(row => copy.rows.get(row.id)?.version !== row.version).map(({ id }) => id)
}
