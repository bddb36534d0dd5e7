/** Decides which fields are blocked or hashed: a policy of patterns, applied to the path of a field. */
import { createHash, createHmac } from 'node:crypto'
import { catalogue, findResource } from '../../contract/catalogue.ts'
import { fieldColumns, neededFields } from '../../contract/derived/field-places.ts'
import { type FieldRule, matcherOf, type Treatment } from '../../contract/derived/field-rules.ts'
import type { Column } from '../../contract/fields/column.ts'

export interface FieldSettings {
  readonly rules: readonly FieldRule[]
  /** Key of the hashes, in plain text. */
  readonly key?: string | undefined
}

/** A hash names its key, so that a value is never hashed twice and a change of the key is visible. */
const hashed = /^hmac-[0-9a-f]{6}-[0-9a-f]{32}$/

/** A hash is text: a column of any other kind, or of a closed list, could not store it. */
const takesHash = ({ type, values }: Column): boolean => (type === 'text' || type === 'json') && !values

/** Undeclared keys may be data, so any number of paths may be asked for. */
const maxCached = 20_000

const stricter = (one: Treatment | undefined, other: Treatment | undefined): Treatment | undefined =>
  one === 'block' || other === 'block' ? 'block' : (one ?? other)

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('.')))

export class FieldPolicy {
  readonly rules: readonly FieldRule[]
  /** First six hex digits of a hash of the key. */
  readonly keyId: string | undefined
  readonly #key: string
  readonly #matchers: readonly {
    readonly treatment: Treatment
    readonly matches: (path: string) => boolean
  }[]
  readonly #known = new Map<string, Treatment | undefined>()
  readonly #unhashable = new Map<string, ReadonlySet<string>>()

  constructor({ rules, key = '' }: FieldSettings) {
    this.rules = rules
    this.#key = key
    this.keyId = key === '' ? undefined : createHash('sha256').update(`key ${key}`).digest('hex').slice(0, 6)
    this.#matchers = rules.map(({ pattern, treatment }) => ({ treatment, matches: matcherOf(pattern) }))
  }

  get isEmpty(): boolean {
    return this.rules.length === 0
  }

  /** The treatment of the field at this path of a record: its own or that of an object around it, the strictest wins. */
  at(resource: string, path: string): Treatment | undefined {
    const found = this.#matched(resource, path)
    const one = findResource(resource)
    if (found === undefined || (one && neededFields(one).has(path))) return undefined
    return found === 'hash' && this.#unhashableIn(resource).has(path) ? 'block' : found
  }

  /** Why a field that a pattern matches is stored all the same: the model needs it. */
  keptBecause(resource: string, path: string): string | undefined {
    const one = findResource(resource)
    return one && this.#matched(resource, path) && neededFields(one).get(path)
  }

  /** The rules that match the field at this path, or an object around it. */
  rulesFor(resource: string, path: string): readonly FieldRule[] {
    const steps = path.split('.')
    const around = steps.map((_, index) => `${resource}.${steps.slice(0, index + 1).join('.')}`)
    return this.rules.filter(({ pattern }) => around.some(matcherOf(pattern)))
  }

  /** The same wherever the path begins, for JSON whose structure is unknown. */
  anywhere(path: string): Treatment | undefined {
    return this.#cached(`* ${path}`, () => {
      const steps = path.split('.')
      let found: Treatment | undefined
      for (const { name } of catalogue)
        for (const index of steps.keys()) found = stricter(found, this.at(name, steps.slice(index).join('.')))
      return found
    })
  }

  /** Whether an object or list at this path has a field that the model needs. */
  holdsNeeded(resource: string, path: string): boolean {
    const one = findResource(resource)
    return one !== undefined && [...neededFields(one).keys()].some(field => field.startsWith(`${path}.`))
  }

  /** Equal for equal values of all resources. Addresses are compared without case. */
  hash(text: string): string {
    const plain = text.trim()
    if (plain === '' || hashed.test(plain)) return text
    const value = plain.includes('@') ? plain.toLowerCase() : plain
    return `hmac-${this.keyId}-${createHmac('sha256', this.#key).update(value).digest('hex').slice(0, 32)}`
  }

  #matched(resource: string, path: string): Treatment | undefined {
    if (path === '') return undefined
    return this.#cached(`${resource}.${path}`, () =>
      this.#matchers.reduce<Treatment | undefined>(
        (found, { matches, treatment }) =>
          matches(`${resource}.${path}`) ? stricter(found, treatment) : found,
        this.#matched(resource, parentOf(path)),
      ),
    )
  }

  #cached(place: string, find: () => Treatment | undefined): Treatment | undefined {
    if (this.#known.has(place)) return this.#known.get(place)
    const found = find()
    if (this.#known.size >= maxCached) this.#known.clear()
    this.#known.set(place, found)
    return found
  }

  #unhashableIn(resource: string): ReadonlySet<string> {
    const one = findResource(resource)
    const columns =
      this.#unhashable.get(resource) ??
      new Set(
        (one ? fieldColumns(one) : [])
          .filter(({ column, attribute }) => attribute === undefined && !takesHash(column))
          .map(({ path }) => path),
      )
    this.#unhashable.set(resource, columns)
    return columns
  }
}
