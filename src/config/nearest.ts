/** Suggestions for a mistyped name. */
import { closestMatch } from 'leven'

/** The most similar name; undefined when none has at least half of its letters right. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  return closestMatch(name, names, { maxDistance: Math.floor(name.length / 2) })
}

/** `, did you mean X?`, or nothing when no name is near. */
export function didYouMean(name: string, names: readonly string[]): string {
  const found = nearest(name, names)
  return found === undefined ? '' : `, did you mean ${found}?`
}

/** Advice for a name that is none of `names`: the likely one first, then the others. */
export function choiceOf(name: string, names: readonly string[]): string {
  const found = nearest(name, names)
  if (found === undefined) return `name one of ${names.join(', ')}`
  const others = names.filter(other => other !== found)
  if (others.length === 0) return `did you mean ${found}?`
  return `did you mean ${found}? The other${others.length === 1 ? ' is' : 's are'} ${others.join(', ')}`
}
