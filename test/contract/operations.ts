/**
 * The operations of the contract. Reads follow from `src/contract`: their parameters from `operations.ts`, whose keys may call
 * them from the resource. What the contract says beside that, and its writes, are typed here out of its section 4.
 */
import { catalogue } from '../../src/contract/catalogue.ts'
import type { Operation as Declared } from '../../src/contract/fields/operation.ts'
import type { Resource } from '../../src/contract/fields/resource.ts'
import { operations } from '../../src/contract/operations.ts'
import { groupBy } from '../../src/lib/group-by.ts'

export interface Operation {
  /** Method and path. */
  readonly name: string
  readonly answers: 'list' | 'record'
  /** Whose keys may call it: a dash of the contract is `any`. */
  readonly keys: 'company' | 'agency' | 'any'
  /** The scope that the contract names for it. */
  readonly scope?: string
  /** Of the query, without those of the path. */
  readonly parameters: readonly string[]
  readonly errors: readonly number[]
}

/** The declared reads of each path: some paths have several. */
export const readsByPath: ReadonlyMap<string, readonly Declared[]> = groupBy(
  Object.values(operations) as Declared[],
  ({ path }) => path,
)

/** Scopes that the contract names for a read. */
const scopes: Readonly<Record<string, string>> = {
  '/companies/{id}/user-permissions': 'read:users',
  '/companies/{id}/user-assignments': 'read:users',
  '/rates/{id}': 'read:rates',
  '/users': 'read:users',
}

const everyRead = [400, 401, 403, 405, 429, 500]

/** Lists that answer 404 although their path has no id. */
const mayMiss = ['/users']

const listPath = ({ path }: Resource): string => path.replace('{company}', '{id}')

function keysFor(path: string): Operation['keys'] {
  const own = catalogue.find(one => listPath(one) === path || one.single?.path === path)
  if (!own)
    throw new Error(
      `${path} of src/contract/operations.ts is the path of no resource in src/contract/resources`,
    )
  const { agency } = own.keys
  return agency === 'list' || (agency === 'by id' && path.endsWith('/{id}')) ? 'any' : 'company'
}

function read(path: string, reads: readonly Declared[]): Operation {
  const scope = scopes[path]
  const isAbsent = path.includes('{id}') || mayMiss.includes(path)
  return {
    name: `GET ${path}`,
    answers: reads.some(({ answers }) => answers === 'page') ? 'list' : 'record',
    keys: keysFor(path),
    ...(scope && { scope }),
    parameters: [
      ...new Set(
        reads.flatMap(({ parameters, fixed = {} }) => [...Object.keys(parameters), ...Object.keys(fixed)]),
      ),
    ],
    errors: isAbsent ? [...everyRead, 404] : everyRead,
  }
}

const me: Operation = {
  name: 'GET /me',
  answers: 'record',
  keys: 'any',
  parameters: [],
  errors: [401, 405, 429, 500],
}

const agencyWrite = {
  answers: 'record',
  keys: 'agency',
  scope: 'write:workers',
  parameters: ['agency'],
} as const

const writes: readonly Operation[] = [
  { name: 'POST /workers', ...agencyWrite, errors: [400, 401, 403, 405, 409, 413, 429, 500] },
  { name: 'PATCH /workers/{id}', ...agencyWrite, errors: [400, 401, 403, 404, 405, 409, 413, 429, 500] },
  {
    name: 'POST /files/uploads',
    answers: 'record',
    keys: 'any',
    parameters: ['agency', 'company'],
    errors: [...everyRead, 404],
  },
]

export const OPERATIONS: readonly Operation[] = [
  me,
  ...[...readsByPath].map(([path, reads]) => read(path, reads)),
  ...writes,
]
