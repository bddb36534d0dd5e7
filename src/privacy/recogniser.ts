/** Recognises forgotten persons by keyed hashes, so that the warehouse does not store the values it has to forget. */
import { createHmac, randomBytes } from 'node:crypto'
import type { ForgottenValues } from '../state/privacy.ts'
import { identifiersIn } from './identifiers.ts'

export const personKinds = ['worker', 'user'] as const
export type PersonKind = (typeof personKinds)[number]

/** Keyed hashes of one warehouse. */
export interface Hashes {
  readonly key: string
  person(kind: PersonKind, id: string): string
  value(normal: string): string
}

/** Maximum cached hashes: texts of a batch repeat. */
const maxCached = 200_000

export function hashesWith(key: string): Hashes {
  const known = new Map<string, string>()
  const hash = (text: string): string => {
    const found = known.get(text)
    if (found !== undefined) return found
    if (known.size >= maxCached) known.clear()
    const made = createHmac('sha256', Buffer.from(key, 'hex')).update(text).digest('hex')
    known.set(text, made)
    return made
  }
  return {
    key,
    person: (kind, id) => hash(`${kind} ${id}`),
    value: normal => hash(`value ${normal}`),
  }
}

export const newHashKey = (): string => randomBytes(32).toString('hex')

export interface Recogniser {
  /** Whether the person is forgotten in a record that changed at `changedAt`, undefined if the record does not say. */
  isForgotten(kind: PersonKind, id: string, changedAt?: number): boolean
  /** Whether the text is, or contains, a value of a forgotten person. */
  recognises(text: string, changedAt?: number): boolean
}

/** Undefined if no person is forgotten; then pages are stored as they arrive. */
export function recogniserOf({ persons, values }: ForgottenValues): Recogniser | undefined {
  const [first] = persons
  if (!first) return undefined
  const hashes = hashesWith(first.hash_key)
  const forgottenByKey = new Map(persons.map(person => [person.person, person]))
  const isStillForgotten = (person: string, changedAt: number | undefined): boolean => {
    const row = forgottenByKey.get(person)
    if (!row) return false
    return !(row.allows_return && changedAt !== undefined && changedAt > Date.parse(row.begun_at))
  }
  return {
    isForgotten: (kind, id, changedAt) => isStillForgotten(hashes.person(kind, id), changedAt),
    recognises(text, changedAt) {
      for (const normal of identifiersIn(text))
        if (values.get(hashes.value(normal))?.some(person => isStillForgotten(person, changedAt))) return true
      return false
    },
  }
}
