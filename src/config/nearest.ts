/** Suggestions for a mistyped name. */
import { closestMatch } from 'leven'

/** Shorter parts are in too many names. */
const shortestPart = 4

/** Of the names that hold all of `name`, the one that adds least to it. */
function holding(name: string, names: readonly string[]): string | undefined {
  if (name.length < shortestPart) return undefined
  return names.filter(other => other.includes(name)).sort((a, b) => a.length - b.length)[0]
}

/** Nobody mistypes a longer one: to compare it with each name takes as long as it is. */
const longestName = 200

/** The most similar name: it has at least half of the letters right, or holds all of them. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  if (name.length > longestName) return undefined
  const closest = (typed: string): string | undefined =>
    closestMatch(typed, names, { maxDistance: Math.floor(name.length / 2) })
  return holding(name.toLowerCase(), names) ?? closest(name) ?? closest(name.toLowerCase())
}

/** `, did you mean X?`, or nothing when no name is near. */
export function didYouMean(name: string, names: readonly string[]): string {
  const found = nearest(name, names)
  return found === undefined ? '' : `, did you mean ${found}?`
}

/** More would bury the one that was meant. */
const mostOthers = 12

/** Advice for a name that is none of `names`: the likely one first, then the others if they are few. */
export function choiceOf(name: string, names: readonly string[]): string {
  const found = nearest(name, names)
  if (found === undefined) return `name one of ${names.join(', ')}`
  const others = names.filter(other => other !== found)
  if (others.length === 0 || others.length > mostOthers) return `did you mean ${found}?`
  return `did you mean ${found}? The other${others.length === 1 ? ' is' : 's are'} ${others.join(', ')}`
}
