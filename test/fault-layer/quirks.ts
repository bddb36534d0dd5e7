/** Answers as a service with quirks does, whatever service is behind it. Quirks can be changed at any time. */
import { stringify } from 'node:querystring'
import { catalogue } from '../../src/contract/catalogue.ts'
import { namedRng, type Rng } from '../../src/lib/rng.ts'
import { type StoredRecord, selectFields } from '../../src/sandbox/record.ts'
import type { World } from '../../src/sandbox/world.ts'
import { changeList, updateMany } from './changes.ts'
import { brokenRecord, chosenNames, withOddKeys } from './odd-records.ts'
import {
  contentOf,
  isPastEnd,
  type ListAnswer,
  lastPage,
  type Page,
  pageAsked,
  pageSent,
  pageServed,
  type Remembered,
} from './pages.ts'
import { checkResources, type QuirkSettings, type Quirks } from './quirk-settings.ts'
import {
  apiPath,
  type Route,
  refusal,
  routeOf,
  type Service,
  type ServiceAnswer,
  type ServiceRequest,
} from './service.ts'

export interface QuirkParts {
  readonly seed: number
  /** Changes are made to it, and the records to hide and to break are chosen from it. */
  readonly world: World
  readonly now: () => number
  /** With which lists that no collection holds are read; it has limits of its own. */
  readonly ownKey: string
}

export class QuirkBook {
  readonly #parts: QuirkParts
  #settings: QuirkSettings = {}
  #resources = new Map<string, QuirkyResource>()

  constructor(settings: QuirkSettings, parts: QuirkParts) {
    this.#parts = parts
    this.set(settings)
  }

  /** In place of all previous quirks; what happens once can happen again. */
  set(settings: QuirkSettings): void {
    checkResources(settings)
    this.#settings = settings
    this.#resources = new Map()
  }

  around(service: Service): Service {
    return request => {
      const path = request.method === 'GET' ? apiPath(request.url) : undefined
      const route = path === undefined ? undefined : routeOf(path)
      const quirky = route && this.#of(route)
      return quirky ? quirky.answer(request, route, service) : service(request)
    }
  }

  #of({ path }: Route): QuirkyResource | undefined {
    const resource = resourceAt(path)
    const quirks = { ...this.#settings.all, ...this.#settings[resource ?? ''] }
    if (resource === undefined || Object.keys(quirks).length === 0) return undefined
    const known = this.#resources.get(resource) ?? new QuirkyResource(resource, quirks, this.#parts)
    this.#resources.set(resource, known)
    return known
  }
}

const anyIds = (path: string) => path.replace(/:id|\{\w+\}/g, '*')

const byPath = new Map(
  catalogue.flatMap(({ name, path, single }) =>
    [path, single?.path ?? path].map(one => [anyIds(one), name] as const),
  ),
)

const resourceAt = (path: string): string | undefined => byPath.get(anyIds(path))

const queryOf = (url: string): StoredRecord => {
  const asked = new URLSearchParams(url.split('?')[1] ?? '')
  return Object.fromEntries([...asked.keys()].map(name => [name, one(asked.getAll(name))]))
}

/** Text, or a list where a parameter was repeated. */
const one = (values: readonly string[]) => (values.length === 1 ? values[0] : values)

function asking(request: ServiceRequest, query: StoredRecord): ServiceRequest {
  return { ...request, url: `${request.url.split('?')[0]}?${stringify(query as Record<string, string>)}` }
}

interface State extends Remembered {
  readonly broken: ReadonlySet<unknown>
}

interface Envelope {
  readonly success: boolean
  readonly data: unknown
}

interface Paging {
  readonly asked: Page
  /** In place of the page that was asked for. */
  readonly served: Page
  readonly answer: ServiceAnswer
  readonly answerOf: (page: Page) => Promise<ServiceAnswer>
}

class QuirkyResource {
  readonly #quirks: Quirks
  readonly #parts: QuirkParts
  readonly #rng: Rng
  #state: Promise<State> | undefined
  #hasUpdatedMany = false

  constructor(resource: string, quirks: Quirks, parts: QuirkParts) {
    this.#quirks = quirks
    this.#parts = parts
    this.#rng = namedRng(parts.seed, `quirks ${resource}`)
  }

  async answer(request: ServiceRequest, route: Route, service: Service): Promise<ServiceAnswer> {
    this.#state ??= this.#begun(request, route, service)
    const state = await this.#state
    if (route.isList) this.#change(route)
    const query = this.#heard(queryOf(request.url))
    const asked = route.isList ? pageAsked(query) : undefined
    const served = asked && pageServed(this.#quirks, asked, state)
    // What the quirks do to a record depends on its id.
    const { fields } = query
    const more = typeof fields === 'string' && { fields: `${fields},id` }
    const answerOf = (page: object) => service(asking(request, { ...query, ...more, ...page }))
    const answer = await answerOf(served ?? {})
    if (answer.status !== 200) return answer
    const after = this.#quirks['forbidden-after']
    if (after !== undefined && state.answered >= after) return refusal(403, 'the key may not read this list')
    const found =
      asked && served
        ? await this.#page({ asked, served, answer, answerOf }, state)
        : (JSON.parse(String(answer.body)) as Envelope)
    if ('status' in found) return found
    const data = this.#records(found.data, state, fields)
    state.answered += 1
    const success = this.#quirks.success === 'false' ? { success: false } : {}
    return { ...answer, body: JSON.stringify({ ...found, data, ...success }) }
  }

  /** What is sent as the page, or the refusal of one past the end. */
  async #page({ asked, served, answer, answerOf }: Paging, state: State): Promise<Envelope | ServiceAnswer> {
    const list = JSON.parse(String(answer.body)) as ListAnswer
    const how = isPastEnd(this.#quirks, served, list) ? this.#quirks['past-end'] : undefined
    if (how === '404' || how === '400') return refusal(Number(how), 'the list has no such page')
    const last = how === 'last' ? { ...served, page: lastPage(this.#quirks, served, list) } : undefined
    const found = last ? (JSON.parse(String((await answerOf(last)).body)) as ListAnswer) : list
    const sent = pageSent(this.#quirks, { asked, answer: found }, state)
    return how === 'null' ? { ...sent, data: null } : sent
  }

  /** The records to hide and to break are chosen at the first request. */
  async #begun(request: ServiceRequest, { collection, isList }: Route, service: Service): Promise<State> {
    const { seed, world } = this.#parts
    const { hidden, broken } = this.#quirks
    const chosen = async (count: number | undefined, salt: number) => {
      if (count === undefined) return new Set()
      if (collection)
        return chosenNames(
          world.all(collection).map(({ id }) => id),
          count,
          seed + salt,
        )
      const rows = isList ? await this.#everyRow(request, service) : []
      return chosenNames(rows.map(contentOf), count, seed + salt)
    }
    return {
      answered: 0,
      hasRepeated: false,
      hidden: await chosen(hidden, 1),
      broken: await chosen(broken, 2),
    }
  }

  /** Of a list that no collection holds: the rows that the service would answer, whatever their days and order. */
  async #everyRow(request: ServiceRequest, service: Service): Promise<StoredRecord[]> {
    const { from: _from, to: _to, ...asked } = queryOf(request.url)
    const headers = { ...request.headers, authorization: `Bearer ${this.#parts.ownKey}` }
    const rows: StoredRecord[] = []
    for (let page = 1; ; page += 1) {
      const answer = await service(asking({ ...request, headers }, { ...asked, page, limit: 200 }))
      const { data } = JSON.parse(String(answer.body)) as { data: readonly StoredRecord[] }
      rows.push(...data)
      if (data.length < 200) return rows
    }
  }

  #change({ collection }: Route): void {
    if (!collection) return
    const { world, now } = this.#parts
    const list = { world, collection, rng: this.#rng, nowMs: now() }
    const many = this.#quirks['bulk-update']
    if (many !== undefined && !this.#hasUpdatedMany) updateMany(list, many)
    this.#hasUpdatedMany = true
    changeList(list, this.#quirks)
  }

  #heard({ dateField, ...query }: StoredRecord): StoredRecord {
    return dateField === undefined || this.#quirks['date-field'] === 'ignored'
      ? query
      : { ...query, dateField }
  }

  #records(data: unknown, { broken }: State, fields: unknown): unknown {
    return eachRecord(data, row => {
      const shown = broken.has(row.id) ? brokenRecord(row) : row
      return typeof fields === 'string'
        ? selectFields(shown, fields.split(','))
        : withOddKeys(shown, this.#quirks, this.#parts.seed)
    })
  }
}

/** Records stand in `data` itself, in its `entries`, or are `data`. */
function eachRecord(data: unknown, change: (record: StoredRecord) => StoredRecord): unknown {
  if (data === null) return data
  if (Array.isArray(data)) return data.map(change)
  const { entries } = data as StoredRecord
  return Array.isArray(entries)
    ? { ...(data as object), entries: entries.map(change) }
    : change(data as StoredRecord)
}
