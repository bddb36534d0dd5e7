/** Parses YAML that somebody else may have written: bounded in size, in depth and in what its aliases grow to. */
import { type Document, LineCounter, parseDocument } from 'yaml'
import { deepestJson, isDeep } from '../lib/json-depth.ts'

/** Bytes of a file of settings or of a DAG. */
export const largestYaml = 131_072

/** How often values may be repeated by aliases, aliases within them included. */
const mostAliases = 100

export interface ParsedYaml {
  readonly document: Document
  readonly lines: LineCounter
  /** Plain values. */
  readonly tree: unknown
}

/** `place` is line and column, such as `3:14 `, and empty when the whole text is meant. */
interface YamlFault {
  readonly fault: string
  readonly place: string
}

const whole = (fault: string): YamlFault => ({ fault, place: '' })

const tooDeep = whole(`it is nested deeper than ${deepestJson}`)

function bounded(text: string): ParsedYaml | YamlFault {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' })
  const [error] = document.errors
  if (error?.message.startsWith('Maximum call stack')) return tooDeep
  if (error?.code === 'MULTIPLE_DOCS') return whole('it holds several documents, each after ---')
  if (error) {
    const { line, col } = lines.linePos(error.pos[0])
    return { fault: error.message, place: `${line}:${col} ` }
  }
  const tree: unknown = document.toJS({ maxAliasCount: mostAliases })
  return isDeep(tree) ? tooDeep : { document, lines, tree }
}

export function parseYaml(text: string): ParsedYaml | YamlFault {
  try {
    return bounded(text)
  } catch (error) {
    // The parser calls itself for each level, and ends so when the stack is full.
    if (error instanceof RangeError) return tooDeep
    if (!(error instanceof ReferenceError)) throw error
    const isExcessive = error.message.startsWith('Excessive')
    return whole(isExcessive ? `aliases repeat its values more than ${mostAliases} times` : error.message)
  }
}
