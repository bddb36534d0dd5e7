/** Declares the rules of a field policy and checks them against the declared fields. */
import { didYouMean, nearest } from '../../lib/text/nearest.ts'
import { catalogue } from '../catalogue.ts'
import { fieldPaths, neededFields } from './field-places.ts'
import { openDocuments } from './json-shape.ts'

export const treatments = ['block', 'hash'] as const
export type Treatment = (typeof treatments)[number]

/** `companies.finance`, or `*.email`; a star that is a whole step stands for any number of steps. */
export interface FieldRule {
  readonly pattern: string
  readonly treatment: Treatment
}

const escaped = (text: string): string => text.replace(/[\\^$.+?()[\]{}|/]/g, '\\$&').replaceAll('*', '[^.]*')

/** Matches the name of a resource, a point and the path of a field. */
export function matcherOf(pattern: string): (path: string) => boolean {
  const steps = pattern.split('.')
  const last = steps.length - 1
  const parts = steps.map((step, index) => {
    if (step !== '*') return `${escaped(step)}${index < last ? '\\.' : ''}`
    return index < last ? '(?:[^.]+\\.)*' : '[^.]+'
  })
  const matching = new RegExp(`^${parts.join('')}$`)
  return path => matching.test(path)
}

const resourceNames = catalogue.map(({ name }) => name)

/** Documents with any keys: a path below one needs no declaration. */
const documents: readonly string[] = catalogue.flatMap(({ name, table }) =>
  openDocuments(table).map(({ path }) => `${name}.${path}`),
)

const isInDocument = (pattern: string): boolean =>
  documents.some(document => pattern.startsWith(`${document}.`))

/** Why the pattern matches no field; undefined if it does, or if it may match an undeclared one. */
function unknownField(pattern: string): string | undefined {
  const matches = matcherOf(pattern)
  const isDeclared = catalogue.some(one => [...fieldPaths(one)].some(path => matches(`${one.name}.${path}`)))
  const [resource = '', ...steps] = pattern.split('.')
  if (isDeclared || isInDocument(pattern)) return undefined
  if (!resource.includes('*') && !resourceNames.includes(resource))
    return `there is no resource ${resource}${didYouMean(resource, resourceNames)}`
  const last = steps.at(-1) ?? ''
  if (last.endsWith('*')) return undefined
  const known = catalogue
    .filter(({ name }) => resource.includes('*') || name === resource)
    .flatMap(one => [...fieldPaths(one)])
  const path = steps.filter(step => step !== '*').join('.')
  const names = path === last ? known.flatMap(one => [one, one.split('.').at(-1) ?? '']) : known
  const isAnywhere = resource.includes('*')
  const found = nearest(path, [...new Set(names)]) ?? ''
  // The last step alone names a field of any resource, but not one of this.
  const meant =
    isAnywhere || known.includes(found) ? found : (known.find(one => one.endsWith(`.${found}`)) ?? '')
  const advice = meant === '' ? '' : `, did you mean ${meant}?`
  const at = isAnywhere ? 'no resource has' : `${resource} have no`
  return `${at} field ${path}${advice}, or write ${last}* for a field that the service does not document`
}

/** Why a rule that names one field cannot apply: the model needs the field, or one in it. */
function neededField({ pattern, treatment }: FieldRule): string | undefined {
  const resource = catalogue.find(({ name }) => pattern.startsWith(`${name}.`))
  if (!resource || pattern.includes('*')) return undefined
  const path = pattern.slice(resource.name.length + 1)
  const needed = neededFields(resource)
  const verb = treatment === 'hash' ? 'hashed' : 'blocked'
  const why = needed.get(path)
  if (why !== undefined) return `${pattern} cannot be ${verb}: ${why}`
  const inside = [...needed].find(([field]) => field.startsWith(`${path}.`))
  return (
    inside &&
    `${pattern} cannot be ${verb} as a whole: it has ${inside[0]}, and ${inside[1]}; name the other fields below it, or write ${pattern}.*`
  )
}

/** What is wrong with a rule; undefined for a valid one. */
export const faultOf = (rule: FieldRule): string | undefined =>
  unknownField(rule.pattern) ?? neededField(rule)
