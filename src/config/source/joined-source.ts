/** Several files of settings as one: each has connections of its own, and a problem names its file. */
import type { Path, Problem, Source } from '../source.ts'
import type { YamlSource } from './yaml-source.ts'

type Tree = Readonly<Record<string, unknown>>

const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const connectionsOf = ({ tree }: Source): Tree => {
  const { connections } = isTree(tree) ? tree : {}
  return isTree(connections) ? connections : {}
}

/** Of a connection that two files have, the first counts, and the second is a problem. */
export function joinedSource(read: readonly YamlSource[]): YamlSource {
  const owners = new Map<string, Source>()
  const problems: Problem[] = read.flatMap(one => one.problems)
  const rest: Record<string, unknown> = {}
  for (const { source } of read) {
    for (const name of Object.keys(connectionsOf(source))) {
      const owner = owners.get(name)
      if (owner)
        problems.push({
          path: ['connections', name],
          text: `${owner.name} and ${source.name} both have ${name}`,
        })
      else owners.set(name, source)
    }
    // What no file may have is told once, by the check of the whole.
    if (isTree(source.tree)) for (const [key, value] of Object.entries(source.tree)) rest[key] ??= value
  }
  const connections = Object.fromEntries(
    [...owners].map(([name, source]) => [name, connectionsOf(source)[name]]),
  )
  const sourceOf = ([, name]: Path): Source | undefined => owners.get(String(name))
  const names = read.map(({ source }) => source.name)
  const source: Source = {
    name: `${names[0]} and ${names.length - 1} more`,
    tree: { ...rest, connections },
    where: path => {
      const own = sourceOf(path)
      return own ? `${own.name} ${own.where(path)}` : names.join(', ')
    },
    fileOf: path => sourceOf(path)?.name ?? names[0] ?? '',
    line: path => sourceOf(path)?.line?.(path) ?? 1,
    variablesOf: path => sourceOf(path)?.variablesOf(path) ?? [],
    variables: new Set(read.flatMap(one => [...one.source.variables])),
  }
  return { source, problems }
}
