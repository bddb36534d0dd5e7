/** The order in which marts are built: each after those it reads. */
import type { Mart } from './mart.ts'

const prefix = 'mart.'

/** Names of the marts that this one reads. */
export const martsRead = ({ reads }: Mart): string[] =>
  reads.filter(name => name.startsWith(prefix)).map(name => name.slice(prefix.length))

/** Throws an Error for a mart that is read and not there, and for one that comes to read itself. */
export function inOrder(marts: readonly Mart[]): Mart[] {
  const byName = new Map(marts.map(mart => [mart.name, mart]))
  const ordered = new Set<Mart>()
  const visit = (mart: Mart, trail: readonly string[]): void => {
    if (trail.includes(mart.name))
      throw new Error(`marts read each other: ${[...trail, mart.name].join(' -> ')}`)
    for (const name of martsRead(mart)) {
      const read = byName.get(name)
      if (!read) throw new Error(`sql/mart/${mart.name}.sql reads mart.${name}, which no file declares`)
      if (!ordered.has(read)) visit(read, [...trail, mart.name])
    }
    ordered.add(mart)
  }
  for (const mart of marts) visit(mart, [])
  return [...ordered]
}

/** The named ones and those that they come to read, in the order of `marts`. */
export function withSources(marts: readonly Mart[], names: readonly string[]): Mart[] {
  const wanted = new Set(names)
  for (const mart of marts.toReversed())
    if (wanted.has(mart.name)) for (const name of martsRead(mart)) wanted.add(name)
  return marts.filter(({ name }) => wanted.has(name))
}
