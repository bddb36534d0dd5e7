/** Settings in YAML, with each `${VARIABLE}` replaced and the line of every key remembered. */
import { type Document, isMap, isScalar, isSeq } from 'yaml'
import { type Environment, variable } from '../environment.ts'
import { dotted, type Path, type Problem, type Source } from '../source.ts'
import { parseYaml } from '../yaml.ts'

export interface YamlSource {
  readonly source: Source
  readonly problems: readonly Problem[]
}

interface Text {
  readonly file: string
  readonly text: string
}

/**
 * Braces end an unquoted text inside `{ ... }`, so `${NAME}` is replaced by private characters of the same length before
 * parsing: columns stay correct, and values are inserted afterwards, when they can no longer be read as YAML.
 */
const opening = '\u{e000}\u{e000}'
const closing = '\u{e001}'
const markedName = new RegExp(`${opening}([^${closing}]*)${closing}`, 'g')

/** Returns a string, `line:column what`, when the text is not YAML. */
export function readYaml({ file, text }: Text, env: Environment): YamlSource | string {
  const marked = text.replace(/\$\{([A-Za-z_]\w*)\}/g, (_, name) => opening + name + closing)
  const parsed = parseYaml(marked)
  if ('fault' in parsed) return `${parsed.place || ' '}${unmarked(parsed.fault)}`
  const { document, lines } = parsed
  const expansion: Expansion = { env, problems: [], touched: new Map() }
  const tree = expand(parsed.tree, [], expansion)
  const line = (path: Path): number => lines.linePos(offsetOf(document, path)).line
  const source: Source = {
    name: file,
    tree,
    where: path => `line ${line(path)}`,
    line,
    variablesOf: path => expansion.touched.get(dotted(path)) ?? [],
    variables: new Set([...expansion.touched.values()].flat()),
  }
  return { source, problems: expansion.problems }
}

interface Expansion {
  readonly env: Environment
  readonly problems: Problem[]
  /** Dotted paths of the texts that named variables -> their names. */
  readonly touched: Map<string, readonly string[]>
}

function expand(value: unknown, path: Path, expansion: Expansion): unknown {
  if (typeof value === 'string') return expandText(value, path, expansion)
  if (Array.isArray(value)) return value.map((item, index) => expand(item, [...path, index], expansion))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, item]) => {
    const name = unmarked(key)
    return [name, expand(item, [...path, name], expansion)]
  })
  return Object.fromEntries(entries)
}

function expandText(text: string, path: Path, { env, problems, touched }: Expansion): string {
  return text.replace(markedName, (_, name: string) => {
    touched.set(dotted(path), [...(touched.get(dotted(path)) ?? []), name])
    const value = variable(env, name)
    if (value === undefined) {
      problems.push({ path, text: `${dotted(path)} uses the environment variable ${name}, which is not set` })
    }
    return value ?? ''
  })
}

function unmarked(text: string): string {
  return text.replaceAll(opening, '${').replaceAll(closing, '}')
}

function offsetOf(document: Document, path: Path): number {
  let node: unknown = document.contents
  let offset = 0
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(item => isScalar(item.key) && unmarked(String(item.key.value)) === step)
      if (!pair) break
      if (isScalar(pair.key)) offset = pair.key.range?.[0] ?? offset
      node = pair.value
    } else if (isSeq(node)) {
      node = node.items[Number(step)]
      if (isScalar(node) || isMap(node)) offset = node.range?.[0] ?? offset
    } else {
      break
    }
  }
  return offset
}
