/** Answers requests as a service with quirks does. They can be changed while the sandbox runs. */
import { catalogue } from '../../contract/catalogue.ts'
import { namedRng, type Rng } from '../../lib/rng.ts'
import type { Answer, Endpoint, EndpointRequest } from '../declare/endpoint.ts'
import type { StoredRecord } from '../records/record.ts'
import { selectFields } from '../records/select-fields.ts'
import { changeList, updateMany } from './changes.ts'
import { brokenRecord, placeOf, withOddKeys } from './odd-records.ts'
import {
  checkForbidden,
  contentOf,
  isPastEnd,
  type Page,
  pageAsked,
  pagePastEnd,
  pageSent,
  pageServed,
  type Remembered,
} from './pages.ts'
import { checkResource, noQuirks, type QuirkSettings, type Quirks } from './quirk-options.ts'

export class QuirkBook {
  readonly #seed: number
  #settings: QuirkSettings = {}
  #lists = new Map<string, QuirkyResource>()

  constructor(settings: QuirkSettings, seed: number) {
    this.#seed = seed
    this.set(settings)
  }

  get settings(): QuirkSettings {
    return this.#settings
  }

  /** In place of all quirks before; what happens once can happen again. Throws a UsageError for an unknown resource. */
  set(settings: QuirkSettings): void {
    for (const name of Object.keys(settings)) checkResource(name)
    this.#settings = settings
    this.#lists = new Map()
  }

  answer(endpoint: Endpoint, request: EndpointRequest): Answer {
    const quirky = endpoint.method === 'GET' ? this.#of(endpoint) : undefined
    return quirky ? quirky.answer(endpoint, request) : endpoint.answer(request)
  }

  #of({ path }: Endpoint): QuirkyResource | undefined {
    const resource = resourceAt(path)
    const chosen = { ...this.#settings.all, ...this.#settings[resource ?? ''] }
    if (resource === undefined || Object.keys(chosen).length === 0) return undefined
    const known =
      this.#lists.get(resource) ?? new QuirkyResource(resource, { ...noQuirks, ...chosen }, this.#seed)
    this.#lists.set(resource, known)
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

interface State extends Remembered {
  readonly broken: ReadonlySet<unknown>
}

class QuirkyResource {
  readonly #quirks: Quirks
  readonly #seed: number
  readonly #rng: Rng
  #state: State | undefined

  constructor(resource: string, quirks: Quirks, seed: number) {
    this.#quirks = quirks
    this.#seed = seed
    this.#rng = namedRng(seed, `quirks ${resource}`)
  }

  answer(endpoint: Endpoint, request: EndpointRequest): Answer {
    const state = this.#begun(endpoint, request)
    checkForbidden(this.#quirks, state)
    if (endpoint.isList) this.#change(endpoint, request, state.answered)
    const answer = this.#answered(endpoint, request, state)
    state.answered += 1
    return this.#quirks.success === 'false' ? { ...answer, success: false } : answer
  }

  /** The records to hide and to break are chosen at the first request. */
  #begun(endpoint: Endpoint, request: EndpointRequest): State {
    const chosen = (count: number | 'none', salt: number) => {
      if (count === 'none') return new Set()
      const { collection } = endpoint
      const names = collection
        ? request.world.all(collection).map(({ id }) => id)
        : everyRow(endpoint, request).map(contentOf)
      return firstOf(names, { count, seed: this.#seed + salt })
    }
    this.#state ??= {
      answered: 0,
      hasRepeated: false,
      hidden: chosen(this.#quirks.hidden, 1),
      broken: chosen(this.#quirks.broken, 2),
    }
    return this.#state
  }

  #change({ collection }: Endpoint, { world, nowMs }: EndpointRequest, answered: number): void {
    if (!collection) return
    const list = { world, collection, rng: this.#rng, nowMs }
    const many = this.#quirks['bulk-update']
    if (answered === 0 && many !== 'none') updateMany(list, many)
    changeList(list, this.#quirks)
  }

  #answered(endpoint: Endpoint, request: EndpointRequest, state: State): Answer {
    const query = this.#heard(request.query as StoredRecord)
    const asked = endpoint.isList ? pageAsked(query) : undefined
    if (!asked) return this.#withRecords(endpoint.answer(request), state)
    const { page, limit } = pageServed(this.#quirks, asked, state)
    // What the quirks do to a record depends on its id.
    const { fields } = query
    const more = typeof fields === 'string' && { fields: `${fields},id` }
    const answerOf = (page: number) =>
      endpoint.answer({
        ...request,
        query: { ...query, ...more, page: String(page), limit: String(limit) },
      })
    const answer = this.#ended(answerOf, { page, limit })
    const sent = this.#withRecords(pageSent(this.#quirks, { asked, answer }, state), state, fields)
    const isNull = this.#quirks['past-end'] === 'null' && isPastEnd(this.#quirks, { page, limit }, answer)
    return isNull ? { ...sent, data: null } : sent
  }

  #ended(answerOf: (page: number) => Answer, asked: Page): Answer {
    const answer = answerOf(asked.page)
    const other = isPastEnd(this.#quirks, asked, answer)
      ? pagePastEnd(this.#quirks, asked, answer)
      : undefined
    return other === undefined ? answer : answerOf(other)
  }

  #heard({ dateField, ...query }: StoredRecord): StoredRecord {
    return dateField === undefined || this.#quirks['date-field'] === 'ignored'
      ? query
      : { ...query, dateField }
  }

  #withRecords(answer: Answer, { broken }: State, fields?: unknown): Answer {
    const record = (row: StoredRecord): StoredRecord => {
      const shown = broken.has(row.id) ? brokenRecord(row) : row
      return typeof fields === 'string'
        ? selectFields(shown, fields.split(','))
        : withOddKeys(shown, this.#quirks, this.#seed)
    }
    return { ...answer, data: eachRecord(answer.data, record) }
  }
}

/** Records stand in `data` itself, in its `entries`, or are `data`. */
function eachRecord(data: unknown, change: (record: StoredRecord) => StoredRecord): unknown {
  if (Array.isArray(data)) return data.map(change)
  const { entries } = data as StoredRecord
  return Array.isArray(entries)
    ? { ...(data as object), entries: entries.map(change) }
    : change(data as StoredRecord)
}

interface Choice {
  readonly count: number
  readonly seed: number
}

/** The rows of a list that no collection holds: those that the service would answer, whatever their days and order. */
function everyRow(endpoint: Endpoint, request: EndpointRequest): StoredRecord[] {
  if (!endpoint.isList) return []
  const { from: _from, to: _to, ...asked } = request.query as StoredRecord
  const rows: StoredRecord[] = []
  for (let page = 1; ; page += 1) {
    const answer = endpoint.answer({ ...request, query: { ...asked, page: String(page), limit: '200' } })
    const more = answer.data as readonly StoredRecord[]
    rows.push(...more)
    if (more.length < 200) return rows
  }
}

/** So many names, spread over the list by the seed. */
function firstOf(names: readonly unknown[], { count, seed }: Choice): ReadonlySet<unknown> {
  const places = [...new Set(names)].map(name => ({ name, place: placeOf(name, seed) }))
  places.sort((one, other) => one.place - other.place)
  return new Set(places.slice(0, count).map(({ name }) => name))
}
