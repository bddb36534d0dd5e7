/** Recognises forgotten persons by keyed hashes: the warehouse does not hold what it was made to forget. */
import { createHmac, randomBytes } from 'node:crypto'
import type { Forgotten } from '../state/privacy/forgotten.ts'
import { tellingIn } from './telling.ts'

export const personKinds = ['worker', 'user'] as const
export type PersonKind = (typeof personKinds)[number]

/** Hashes of one warehouse. */
export interface Hashes {
  readonly key: string
  person(kind: PersonKind, id: string): string
  value(normal: string): string
}

/** Texts of a batch repeat; so many results are kept. */
const mostKept = 200_000

export function hashesWith(key: string): Hashes {
  const known = new Map<string, string>()
  const hash = (text: string): string => {
    const found = known.get(text)
    if (found !== undefined) return found
    if (known.size >= mostKept) known.clear()
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
  /** Whether the person is forgotten, for a record that changed at this time; undefined when it gives none. */
  isForgotten(kind: PersonKind, id: string, changedAt?: number): boolean
  /** Whether the text is, or contains, a value of somebody who is forgotten. */
  tells(text: string, changedAt?: number): boolean
}

/** Undefined while nobody is forgotten: then pages are stored as they arrive. */
export function recogniserOf({ persons, values }: Forgotten): Recogniser | undefined {
  const [first] = persons
  if (!first) return undefined
  const hashes = hashesWith(first.hash_key)
  const held = new Map(persons.map(person => [person.person, person]))
  const isHeld = (person: string, changedAt: number | undefined): boolean => {
    const row = held.get(person)
    if (!row) return false
    return !(row.allows_return && changedAt !== undefined && changedAt > Date.parse(row.begun_at))
  }
  return {
    isForgotten: (kind, id, changedAt) => isHeld(hashes.person(kind, id), changedAt),
    tells(text, changedAt) {
      for (const normal of tellingIn(text))
        if (values.get(hashes.value(normal))?.some(person => isHeld(person, changedAt))) return true
      return false
    },
  }
}
