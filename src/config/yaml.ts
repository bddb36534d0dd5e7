/**
 * Parses YAML from any author, so it limits size, depth and the expansion of aliases. In settings it replaces each
 * `${VARIABLE}` and records the line of every key.
 */
import { type Document, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml'
import { deepestJson, isDeep } from '../lib/json-depth.ts'
import { type Environment, variable } from './environment.ts'
import { dotted, type SettingsPath, type SettingsProblem, type SettingsSource } from './source.ts'

/** Maximum bytes of a settings file or of a DAG file. */
export const largestYaml = 131_072

/** Maximum repetitions of values by aliases, including nested aliases. */
const maxAliases = 100

interface ParsedYaml {
  readonly document: Document
  readonly lines: LineCounter
  /** Plain values. */
  readonly tree: unknown
}

/** `place` is line and column, such as `3:14 `, or empty if the fault concerns the complete text. */
interface YamlFault {
  readonly fault: string
  readonly place: string
}

const fileFault = (fault: string): YamlFault => ({ fault, place: '' })

const tooDeep = fileFault(`it is nested deeper than ${deepestJson}`)

function bounded(text: string): ParsedYaml | YamlFault {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' })
  const [error] = document.errors
  if (error?.message.startsWith('Maximum call stack')) return tooDeep
  if (error?.code === 'MULTIPLE_DOCS') return fileFault('it holds several documents, each after ---')
  if (error) {
    const { line, col } = lines.linePos(error.pos[0])
    return { fault: error.message, place: `${line}:${col} ` }
  }
  const tree: unknown = document.toJS({ maxAliasCount: maxAliases })
  return isDeep(tree) ? tooDeep : { document, lines, tree }
}

export function parseYaml(text: string): ParsedYaml | YamlFault {
  try {
    return bounded(text)
  } catch (error) {
    // The parser is recursive, and deep nesting overflows the stack.
    if (error instanceof RangeError) return tooDeep
    if (!(error instanceof ReferenceError)) throw error
    const isExcessive = error.message.startsWith('Excessive')
    return fileFault(isExcessive ? `aliases repeat its values more than ${maxAliases} times` : error.message)
  }
}

export interface YamlSource {
  readonly source: SettingsSource
  readonly problems: readonly SettingsProblem[]
}

interface SettingsText {
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
export function readYaml({ file, text }: SettingsText, env: Environment): YamlSource | string {
  const marked = text.replace(/\$\{([A-Za-z_]\w*)\}/g, (_, name) => opening + name + closing)
  const parsed = parseYaml(marked)
  if ('fault' in parsed) return `${parsed.place || ' '}${unmarked(parsed.fault)}`
  const { document, lines } = parsed
  const expansion: Expansion = { env, problems: [], touched: new Map() }
  const tree = expand(parsed.tree, [], expansion)
  const line = (path: SettingsPath): number => lines.linePos(offsetOf(document, path)).line
  const source: SettingsSource = {
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
  readonly problems: SettingsProblem[]
  /** Names of variables, by the dotted path of the text that names them. */
  readonly touched: Map<string, readonly string[]>
}

function expand(value: unknown, path: SettingsPath, expansion: Expansion): unknown {
  if (typeof value === 'string') return expandText(value, path, expansion)
  if (Array.isArray(value)) return value.map((item, index) => expand(item, [...path, index], expansion))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, item]) => {
    const name = unmarked(key)
    return [name, expand(item, [...path, name], expansion)]
  })
  return Object.fromEntries(entries)
}

function expandText(text: string, path: SettingsPath, { env, problems, touched }: Expansion): string {
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

function offsetOf(document: Document, path: SettingsPath): number {
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
