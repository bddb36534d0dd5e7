/** The name that somebody who mistyped most likely meant. */
import leven from 'leven'

export function nearest(name: string, names: readonly string[]): string {
  const [first = ''] = [...names].sort((a, b) => leven(a, name) - leven(b, name))
  return first
}

/** `; did you mean X?`, or nothing when no name is near: more than half of it would have to be mistyped. */
export function didYouMean(name: string, names: readonly string[]): string {
  const found = nearest(name, names)
  return leven(found, name) * 2 > name.length ? '' : `; did you mean ${found}?`
}
