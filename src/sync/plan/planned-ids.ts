/** Estimates how many records without a list a first sync will fetch, from the ids on a few pages that refer to them. */
import { AccessDenied, NotFound } from '../../api/client/errors.ts'
import { lastPage } from '../../api/client/paging.ts'
import { findResource } from '../../contract/catalogue.ts'
import { type Edge, edges } from '../../contract/derived/discovery.ts'
import type { FieldPath } from '../../contract/fields/column.ts'
import { asReadBy, type Resource, type Snapshot } from '../../contract/fields/resource.ts'
import type { Table } from '../../contract/fields/table.ts'
import { counted } from '../../lib/counted.ts'
import { countIds, namedIds } from '../../state/by-id/due.ts'
import type { Engine } from '../../warehouse/engine.ts'
import type { IdsToCome } from './estimate.ts'
import { askTotal, type PlanContext } from './outlook.ts'

/** Spread over the list, since neighbouring records refer to the same ids. */
const pagesSampled = 6

/** The values at the path; for a list, at the path in each element. */
function valuesAt(value: unknown, path: FieldPath): readonly unknown[] {
  if (Array.isArray(value)) return value.flatMap(element => valuesAt(element, path))
  const [first, ...rest] = path
  if (first === undefined) return [value]
  return typeof value === 'object' && value !== null
    ? valuesAt((value as Readonly<Record<string, unknown>>)[first], rest)
    : []
}

/** Path of the column in a record; undefined if its value is computed. */
function pathOf(table: Table, edge: Edge): FieldPath | undefined {
  if (table.name === edge.table) {
    const source = table.columns[edge.column]?.source
    return source?.from === 'field' ? source.path : undefined
  }
  for (const { lists, table: rows } of table.children) {
    const path = pathOf(rows, edge)
    if (path) return [...lists.flat(), ...path]
  }
  return undefined
}

function idsIn(records: readonly unknown[], path: FieldPath): ReadonlySet<string> {
  return new Set(
    valuesAt(records, path).filter(value => typeof value === 'string' && value !== '') as string[],
  )
}

/**
 * Estimates the distinct ids in a list, from `distinct` ids in a sample of `size` records. Assumes that each id occurs
 * equally often: `k` ids give k(1 - e^(-n/k)) distinct ones in n records.
 */
export function distinctInAll(distinct: number, size: number, total: number): number {
  if (size >= total || distinct === 0) return distinct
  const seenOf = (ids: number, records: number): number => ids * (1 - Math.exp(-records / ids))
  let [low, high] = [distinct, total * 1000]
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2
    if (seenOf(middle, size) < distinct) low = middle
    else high = middle
  }
  return Math.round(Math.min(total, seenOf(low, total)))
}

async function pagesOf(list: Resource, context: PlanContext): Promise<readonly unknown[] | undefined> {
  const { client, samples } = context
  const total = await askTotal(list, context)
  if (!client || total === undefined) return undefined
  const read = async (): Promise<unknown[]> => {
    const pages = lastPage(total)
    const sampled = Math.min(pages, pagesSampled)
    const step = sampled > 1 ? (pages - 1) / (sampled - 1) : 0
    const records: unknown[] = []
    for (let index = 0; index < sampled; index += 1) {
      const query = { ...list.query, page: 1 + Math.round(index * step) }
      records.push(...(await client.getPage(list.path, query, { purpose: 'operator' })).records())
    }
    return records
  }
  const asked = samples.get(list.name) ?? read()
  samples.set(list.name, asked)
  return asked
}

async function inList(list: Resource, path: FieldPath, context: PlanContext): Promise<IdsToCome | undefined> {
  const records = await pagesOf(list, context)
  if (!records) return undefined
  const total = (await askTotal(list, context)) ?? records.length
  const seen = idsIn(records, path).size
  const about = distinctInAll(seen, records.length, total)
  const source = `${counted(seen, 'id')} in ${records.length < total ? `${counted(records.length, 'record')} of ` : ''}${list.name}`
  const isComplete = records.length >= total
  return {
    kind: 'ids to come',
    low: isComplete ? seen : Math.max(seen, Math.floor(about * 0.8)),
    high: Math.ceil(about * (isComplete ? 1.1 : 1.3)),
    source,
  }
}

/** Assumes that every company refers to as many as the first one. */
async function inSnapshot(
  resource: Resource,
  path: FieldPath,
  { client, key }: PlanContext,
): Promise<IdsToCome | undefined> {
  const { rows } = resource.read as Snapshot
  const [first] = key.companies ?? []
  if (!client || !first || rows === 'data' || !resource.path.includes('{company}')) return undefined
  const place = resource.path.replace('{company}', () => encodeURIComponent(first.id))
  const { record } = await client.getRecord(place, resource.query, { purpose: 'operator' })
  const seen = idsIn([record], [...rows.split('.').slice(1), ...path]).size
  const companies = key.companies?.length ?? 1
  const source = `${counted(seen, 'id')} in the first of ${counted(companies, 'company', 'companies')} of ${resource.name}`
  return { kind: 'ids to come', low: seen, high: Math.ceil(seen * companies * 1.1), source }
}

async function alongEdge(edge: Edge, context: PlanContext): Promise<IdsToCome | undefined> {
  const declared = findResource(edge.from)
  const resource = declared && asReadBy(declared, context.key.kind)
  const path = resource && pathOf(resource.table, edge)
  if (!resource || !path || edge.where !== undefined || edge.brings) return undefined
  if (context.readBefore.has(edge.from)) return undefined
  try {
    if (resource.read.strategy === 'scan') return await inList(resource, path, context)
    if (resource.read.strategy === 'snapshot') return await inSnapshot(resource, path, context)
  } catch (error) {
    // If this key may not read it, its sync finds no ids there either.
    if (!(error instanceof AccessDenied || error instanceof NotFound)) throw error
  }
  return undefined
}

/** Undefined if no resource that can be read refers to them. */
export async function idsToCome(
  name: string,
  context: PlanContext,
  asked: readonly string[] = [],
): Promise<IdsToCome | undefined> {
  const naming = edges[context.key.kind].filter(edge => edge.resource === name)
  const found: IdsToCome[] = []
  for (const edge of naming) {
    const ids = await alongEdge(edge, context)
    if (ids) found.push(ids)
  }
  const largest = found.toSorted((one, other) => other.high - one.high)[0]
  if (largest) return largest
  for (const { from } of naming) {
    if (from === name || asked.includes(from)) continue
    const others = await idsToCome(from, context, [...asked, name])
    if (others)
      return {
        ...others,
        low: Math.floor(others.low * 0.8),
        source: `${from} refer to them: ${others.source}`,
      }
  }
  return undefined
}

/** Ids that the unfetched records of one resource will name, by how often those stored name the same id. */
async function namedByUnfetched(
  { from, table, column, resource }: Edge,
  engine: Engine,
): Promise<IdsToCome | undefined> {
  const { known: knownIds } = await countIds(engine, resource)
  const { neverFetched, known } = await countIds(engine, from)
  if (neverFetched === 0) return undefined
  const source = `${counted(neverFetched, 'record')} of ${from} never fetched`
  const { named, distinct } = await namedIds(engine, `star.${table}`, column)
  const share = named / Math.max(1, known - neverFetched)
  // Without a record to learn from nearly each names another one; of its own resource few do.
  const [low, high] =
    from === resource
      ? [0, neverFetched * 0.15]
      : named === 0
        ? [Math.max(0, neverFetched * 0.7 - knownIds), neverFetched]
        : newIds(distinct, named, Math.round(neverFetched * share))
  return { kind: 'ids to come', low: Math.floor(low), high: Math.ceil(high), source }
}

/** The sample is small, so the range is wide. */
function newIds(distinct: number, named: number, more: number): readonly [low: number, high: number] {
  const expected = distinctInAll(distinct, named, named + more) - distinct
  return [expected * 0.6, Math.min(more, expected * 1.4 + 1)]
}

async function namedByRecords(name: string, { engine, key }: PlanContext): Promise<IdsToCome | undefined> {
  const found: IdsToCome[] = []
  for (const edge of edges[key.kind]) {
    if (!engine || edge.resource !== name || edge.brings || edge.where !== undefined) continue
    const ids = await namedByUnfetched(edge, engine)
    if (ids) found.push(ids)
  }
  return found.toSorted((one, other) => other.high - one.high)[0]
}

/** Ids that a warehouse with some ids will still find: in lists that it has not read, and in records never fetched. */
export async function idsStillToCome(name: string, context: PlanContext): Promise<IdsToCome | undefined> {
  const { engine, client } = context
  if (!engine) return undefined
  const inRecords = await namedByRecords(name, context)
  const inLists = client && (await idsToCome(name, context))
  if (!inLists) return inRecords
  const { known } = await countIds(engine, name)
  return {
    ...inLists,
    low: Math.max(0, inLists.low - known),
    high: Math.max(0, inLists.high - known) + (inRecords?.high ?? 0),
  }
}
