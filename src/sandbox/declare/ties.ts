/** Rows with equal sort keys in another order, for clients that must not rely on one. */

/** `shuffle` absent leaves everything as it is; equal keys stand side by side. */
export function shuffledTies<T>(
  rows: readonly T[],
  keyOf: (row: T) => unknown,
  shuffle: (<U>(group: U[]) => U[]) | undefined,
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
