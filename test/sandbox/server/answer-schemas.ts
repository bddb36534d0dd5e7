/** Holds answers of a sandbox against the document it serves; any test may hold its own. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { Body } from '../open-sandbox.ts'

export interface Answered {
  readonly method: string
  /** Below the base path, with or without a query. */
  readonly path: string
  readonly status: number
  readonly body: Body
}

export interface AnswerSchemas {
  readonly document: Body
  /** What is wrong with an answer; empty when nothing is. */
  problems(answer: Answered): readonly string[]
}

/** `url` is the base URL. */
export async function answerSchemas(url: string): Promise<AnswerSchemas> {
  const document: Body = await (await fetch(new URL('/openapi.json', url))).json()
  // The document around the schemas is OpenAPI's, of which JSON Schema knows nothing.
  const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true, validateSchema: false })
  formats.default(ajv)
  ajv.addVocabulary([...Object.keys(document), 'x-privacy'])
  // Open to clients of the service; the sandbox itself sends no others.
  ajv.addKeyword({
    keyword: 'x-extensible-enum',
    macro: (values: readonly string[]) => ({ enum: [...values, null] }),
  })
  ajv.addSchema(document, 'openapi')
  const known = new Map<string, ValidateFunction>()
  const validator = (pointer: string): ValidateFunction => {
    const found = known.get(pointer) ?? ajv.compile({ $ref: `openapi#${pointer}` })
    known.set(pointer, found)
    return found
  }
  return {
    document,
    problems: ({ method, path, status, body }) => {
      const template = templateOf(document, path)
      const steps = ['paths', template, method.toLowerCase(), 'responses', String(status), 'content']
      let at = document
      for (const step of steps) at = at?.[step]
      if (!at) return [`${method} ${path}: ${status} is not in the document`]
      const pointer = [...steps, 'application/json', 'schema'].map(escaped).join('/')
      const validate = validator(`/${pointer}`)
      if (validate(body)) return []
      return (validate.errors ?? []).map(
        error =>
          `${method} ${template} ${status} ${shape(error.instancePath)} ${error.message} ${JSON.stringify(error.params)}`,
      )
    },
  }
}

const escaped = (step: string) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))

/** The same mistake of many elements is one. */
const shape = (pointer: string) => pointer.replace(/\/\d+(?=\/|$)/g, '/#')

function templateOf(document: Body, path: string): string {
  const plain = path.split('?')[0] ?? ''
  const templates = Object.keys(document.paths)
  const fits = (template: string) => new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(plain)
  return templates.find(template => template === plain) ?? templates.find(fits) ?? plain
}
