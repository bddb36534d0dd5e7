/**
 * Operations, parameters and fields of the contract as they were last accepted. Tests take their cases from the declarations,
 * so what is lost from a declaration would take its own test along: here it shows as a line that is gone.
 */
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { openSandbox } from '../sandbox/open-sandbox.ts'

type Node = Readonly<Record<string, unknown>>

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])

/** Its types, values and limits, such as `string|null enum a,b default a`. */
function wordsOf(schema: Node): string {
  const { type, enum: values, $ref, ...rest } = schema
  const limits = ['format', 'minimum', 'maximum', 'pattern', 'default'].flatMap(name =>
    rest[name] === undefined ? [] : [`${name} ${rest[name]}`],
  )
  return [
    type === undefined ? '' : list(type).join('|'),
    $ref === undefined ? '' : String($ref).split('/').at(-1),
    values === undefined ? '' : `enum ${list(values).join(',')}`,
    ...limits,
  ]
    .filter(Boolean)
    .join(' ')
}

/** One line a field, nested ones with their path. */
function fieldsOf(schema: Node, at: string): string[] {
  const { properties = {}, items, anyOf, oneOf, allOf } = schema as Readonly<Record<string, Node | undefined>>
  const inner = [items, ...[anyOf, oneOf, allOf].flatMap(some => (some ? list(some) : []))]
  return [
    `${at}: ${wordsOf(schema)} ${schema['x-privacy'] ?? ''}`.trimEnd(),
    ...Object.entries(properties).flatMap(([name, field]) => fieldsOf(field as Node, `${at}.${name}`)),
    ...inner.flatMap(one => (one ? fieldsOf(one as Node, `${at}[]`) : [])),
  ]
}

function linesOf(path: string, method: string, operation: Node): string[] {
  const about = ['operationId', 'x-key-kind', 'x-scope'].map(name => String(operation[name]))
  const parameters = (operation.parameters ?? []) as readonly { name: string; in: string; schema: Node }[]
  return [
    `${method.toUpperCase()} ${path} ${about.join(' ')}`,
    ...parameters.map(one => `  ${one.in} ${one.name}: ${wordsOf(one.schema)}`).sort(),
  ]
}

test('the contract is the one that was accepted: npm run accept -- contract shows what differs', async () => {
  const sandbox = await openSandbox()
  const document = (await (await fetch(new URL('/openapi.json', sandbox.url))).json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Node>>>>
    readonly components: { readonly schemas: Readonly<Record<string, Node>> }
  }
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => linesOf(path, method, operation)),
  )
  const fields = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
    fieldsOf(schema, name),
  )
  await expect(`${[...operations, '', ...fields].join('\n')}\n`).toMatchFileSnapshot(
    fileURLToPath(new URL('recorded.txt', import.meta.url)),
  )
})
