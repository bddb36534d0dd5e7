/** SQL that stands in TypeScript: alters its texts in one place at a time, all in one file, of which one is switched on. */
import { parseSync } from 'vite'
import { mutantsOf } from './mutants.ts'

export interface TextMutant {
  readonly id: string
  readonly file: string
  /** From 1. */
  readonly lineNumber: number
  readonly replacement: string
}

/** Of the syntax tree: offsets of what it parsed. */
interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly value?: unknown
  readonly expressions?: readonly Node[]
}

const looksLikeSql =
  /\b(select|from|where|join|on|insert into|update|delete|coalesce|case when|exists|order by|group by|is null|is not null)\b.*[=<>(]|\}\s*(=|<|>|<=|>=|<>)\s/s

/** No expression stands in these. */
const passedOver = new Set([
  'ImportDeclaration',
  'ExportAllDeclaration',
  'TSLiteralType',
  'TSTypeAliasDeclaration',
])

/** What a file gets at its end: which alteration is on, and which ones a test has reached. */
export const instruments = `
function isOn__(id) { return globalThis.__stryker__?.activeMutant === id }
function reach__(ids, text) {
  const all = (globalThis.__stryker__ ??= {})
  const coverage = (all.mutantCoverage ??= { static: {}, perTest: {} })
  const reached = all.currentTestId ? (coverage.perTest[all.currentTestId] ??= {}) : coverage.static
  for (const id of ids) reached[id] = 1
  return text
}
`

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && 'start' in value

const isText = ({ type, value }: Node): boolean =>
  type === 'TemplateLiteral' || (type === 'Literal' && typeof value === 'string')

/** The outermost texts in it, itself included, in order. */
function textsIn(node: Node): readonly Node[] {
  if (passedOver.has(node.type)) return []
  if (isText(node)) return [node]
  const children = Object.values(node).flat().filter(isNode)
  return children.flatMap(textsIn).sort((one, two) => one.start - two.start)
}

class Alterations {
  readonly mutants: TextMutant[] = []
  readonly #file: string
  readonly #source: string

  constructor(file: string, source: string) {
    this.#file = file
    this.#source = source
  }

  code(node: Node): string {
    let [code, from] = ['', node.start]
    for (const text of textsIn(node)) {
      code += this.#source.slice(from, text.start) + this.#text(text)
      from = text.end
    }
    return code + this.#source.slice(from, node.end)
  }

  #text({ start, end, expressions = [] }: Node): string {
    const first = this.#source.slice(0, start).split('\n').length - 1
    const [open, close] = [this.#source[start], this.#source[end - 1]]
    // While the text around a value is altered, a name stands for it.
    let [sql, from] = ['', start + 1]
    const values = expressions.map((expression, index) => {
      const sign = this.#source.lastIndexOf('${', expression.start)
      sql += `${this.#source.slice(from, sign)}zq${index}q`
      from = this.#source.indexOf('}', expression.end) + 1
      return `\${${this.code(expression)}}`
    })
    sql += this.#source.slice(from, end - 1)
    const whole = (text: string): string =>
      open + text.replaceAll(/zq(\d+)q/g, (_, index) => values[index] ?? '') + close
    const altered = looksLikeSql.test(this.#source.slice(start, end))
      ? mutantsOf(sql).map(mutant => {
          const id = `${this.#file}:${this.mutants.length}`
          const replacement = `${sql.slice(mutant.start, mutant.end).trim()} -> ${mutant.replacement}`
          const lineNumber = first + sql.slice(0, mutant.start).split('\n').length
          this.mutants.push({ id, file: this.#file, lineNumber, replacement })
          return { id, text: sql.slice(0, mutant.start) + mutant.replacement + sql.slice(mutant.end) }
        })
      : []
    if (altered.length === 0) return whole(sql)
    const choices = altered.map(({ id, text }) => `isOn__('${id}') ? ${whole(text)} : `).join('')
    return `(${choices}reach__(${JSON.stringify(altered.map(({ id }) => id))}, ${whole(sql)}))`
  }
}

export function alteredTexts(
  file: string,
  source: string,
): { readonly mutants: readonly TextMutant[]; readonly code: string } {
  const alterations = new Alterations(file, source)
  const { program } = parseSync(file, source)
  const whole = { ...(program as unknown as Node), start: 0, end: source.length }
  const code = alterations.code(whole) + instruments
  return { mutants: alterations.mutants, code }
}
