/** The name that somebody who mistyped most likely meant, and what to say of it. */
import { closestMatch } from 'leven'

/** Undefined when none is near: half of its letters wrong is another word, not a slip. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  return closestMatch(name, names, { maxDistance: Math.floor(name.length / 2) })
}

/** `, did you mean X?`, or nothing when no name is near. */
export function didYouMean(name: string, names: readonly string[]): string {
  const found = nearest(name, names)
  return found === undefined ? '' : `, did you mean ${found}?`
}

/** What to do about a name that is none of `names`: the likely one first, then which there are. */
export function choiceOf(name: string, names: readonly string[]): string {
  const found = nearest(name, names)
  if (found === undefined) return `name one of ${names.join(', ')}`
  const others = names.filter(other => other !== found)
  if (others.length === 0) return `did you mean ${found}?`
  return `did you mean ${found}? The other${others.length === 1 ? ' is' : 's are'} ${others.join(', ')}`
}
