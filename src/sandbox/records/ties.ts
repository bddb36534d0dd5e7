/** Records with equal sort keys in another order at each request, for clients that must not rely on one. */
import { namedRng } from '../../lib/rng.ts'

export type Shuffle = <T>(group: T[]) => T[]

export function shuffler(seed: number): Shuffle {
  const rng = namedRng(seed, 'ties')
  return <T>(group: T[]): T[] => {
    for (let last = group.length - 1; last > 0; last -= 1) {
      const other = Math.floor(rng() * (last + 1))
      const moved = group[last] as T
      group[last] = group[other] as T
      group[other] = moved
    }
    return group
  }
}

/** Equal keys stand side by side. Without a shuffle everything stays as it is. */
export function shuffledTies<T>(
  rows: readonly T[],
  keyOf: (row: T) => unknown,
  shuffle: Shuffle | undefined,
): readonly T[] {
  if (!shuffle) return rows
  const result: T[] = []
  let start = 0
  while (start < rows.length) {
    const key = keyOf(rows[start] as T)
    let end = start + 1
    while (end < rows.length && keyOf(rows[end] as T) === key) end += 1
    const group = rows.slice(start, end)
    result.push(...(group.length > 1 ? shuffle(group) : group))
    start = end
  }
  return result
}
