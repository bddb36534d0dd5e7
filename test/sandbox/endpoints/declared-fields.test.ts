/** Every field that the contract declares is sent by the sandbox in some answer, or listed here with the reason why not. */
import { expect, test } from 'vitest'
import { catalogue } from '../../../src/contract/catalogue.ts'
import { type ShapeNode, shapeOf } from '../../../src/contract/derived/json-shape.ts'
import type { Resource } from '../../../src/contract/fields/resource.ts'
import { defaultKeys, sandboxKeys } from '../../../src/sandbox/keys/default-keys.ts'
import type { CollectionName } from '../../../src/sandbox/world.ts'
import { routeOf } from '../../fault-layer/service.ts'
import { type Body, openSandbox } from '../open-sandbox.ts'

/** For a PSC the contract shows these rates as one amount, without its parts. */
const pscParts = ['dayRates.psc', 'pieceRates.values.psc'].flatMap(name =>
  ['pay', 'emp', 'margin', 'charge'].map(part => `${name}.${part}`),
)

/** Answers are shown with an assignment and its timesheets as they were when the worker was placed. */
const answerChanges = ['submissionAnswers.updatedAt', 'submissionAnswers.updatedBy']

/** Fields that the sandbox does not send. */
const unsent: Readonly<Record<string, readonly string[]>> = {
  // Empty lists: no company of the sandbox limits its costs to sectors, or exempts users from its restrictions.
  companies: [
    'finance.costs.markup.sectors',
    'finance.costs.emp.sectors',
    'config.restrictions.exceptionUsers',
  ],
  // The weekday rate is what the other rates are uplifts of.
  timesheets: ['rates.wd.uplift', ...answerChanges],
  assignments: answerChanges,
  trades: pscParts.map(name => `rates.${name}`),
  rates: pscParts,
}

/** Of each resource that is read by id. */
const maxIds = 200

const sandbox = await openSandbox()

function leaves(node: ShapeNode, at: string): string[] {
  if (node.kind === 'leaf') return [at]
  if (node.kind === 'list') return leaves(node.element, at)
  return [...node.fields].flatMap(([name, inner]) => leaves(inner, at === '' ? name : `${at}.${name}`))
}

/** Adds the paths of all values but null; an empty list sends nothing of what it may hold. */
function addPaths(value: Body, at: string, sent: Set<string>): void {
  if (value === null || value === undefined) return
  if (Array.isArray(value)) {
    for (const item of value) addPaths(item, at, sent)
    return
  }
  sent.add(at)
  if (typeof value !== 'object') return
  for (const [name, inner] of Object.entries(value)) addPaths(inner, at === '' ? name : `${at}.${name}`, sent)
}

const rowsOf = (data: Body): Body[] => (Array.isArray(data) ? data : (data.entries ?? [data]))

async function rowsAt(path: string, query: object, key: string): Promise<Body[]> {
  const rows: Body[] = []
  for (let page = 1; ; page += 1) {
    const isList = routeOf(path)?.isList
    const asked = new URLSearchParams({ ...query, ...(isList && { page: `${page}`, limit: '200' }) })
    const { status, body } = await sandbox.get(`${path}?${asked}`, key)
    if (status !== 200) return rows
    rows.push(...rowsOf(body.data))
    if (!isList || body.data.length < 200) return rows
  }
}

/** Spread over the records of the collection. */
function someIds(collection: CollectionName | undefined): string[] {
  const all = collection ? sandbox.world.all(collection) : []
  const step = Math.max(1, Math.floor(all.length / maxIds))
  return all.filter((_, index) => index % step === 0).map(({ id }) => `${id}`)
}

/** The addresses of a resource: of each company and project, and of each record that is read by id. */
function addresses({ path, query, single, read }: Resource): { path: string; query: object }[] {
  const companies = sandbox.world.all('companies').map(({ id }) => `${id}`)
  const collection = routeOf(path.replace(/\{\w+\}/g, 'x'))?.collection
  const each = [{ path, query }, ...(single ? [single] : [])]
  const all = each.flatMap(({ path, query }) => {
    const ids = path.includes('{id}') ? someIds(collection) : ['']
    const owners = path.includes('{company}') ? companies : ['']
    return owners.flatMap(company =>
      ids.map(id => ({ path: path.replace('{company}', company).replace('{id}', id), query })),
    )
  })
  if (read.strategy !== 'snapshot' || read.per !== 'companyProject') return all
  const projects = sandbox.world.all('projects') as Body[]
  return projects.map(({ id, company }) => ({
    path: path.replace('{company}', company.id),
    query: { ...query, projectId: id },
  }))
}

test('every exception is of a resource', () => {
  const names = catalogue.map(({ name }) => name)
  expect(Object.keys(unsent).filter(name => !names.includes(name))).toEqual([])
})

test.each(catalogue.map(resource => [resource.name, resource] as const))(
  '%s: every declared field is sent',
  async (name, resource) => {
    const sent = new Set<string>()
    const everyKey = defaultKeys.map(({ key }) => key)
    // The first request of a key has no last one.
    const keys = name === 'key' ? [...everyKey, ...everyKey] : [sandboxKeys.company, sandboxKeys.agency]
    for (const key of keys) {
      for (const { path, query } of addresses(resource))
        for (const row of await rowsAt(path, query, key)) addPaths(row, '', sent)
    }
    const missing = leaves(shapeOf(resource.table), '').filter(path => !sent.has(path))
    expect(
      missing,
      `fields of ${name} in src/contract/resources that no answer has: send them in src/sandbox/data, or list them in \`unsent\``,
    ).toEqual(unsent[name] ?? [])
  },
)
