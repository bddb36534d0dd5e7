/** Why marts were not built, each reason once. */

export interface Withheld {
  readonly name: string
  readonly message: string | null
}

/** Marts that share a reason; the table of the build lists all. */
const namedAtMost = 3

/** `a, b, c, 21 more (permission denied for schema mart)`, a text for each reason. */
export function withheldReasons(marts: readonly Withheld[]): string[] {
  const byReason = new Map<string | null, string[]>()
  for (const { name, message } of marts) byReason.set(message, [...(byReason.get(message) ?? []), name])
  return [...byReason].map(([message, names]) => {
    const more = names.length - namedAtMost
    const shown = more > 1 ? [...names.slice(0, namedAtMost), `${more} more`] : names
    return `${shown.join(', ')} (${message ?? 'no reason is known'})`
  })
}
