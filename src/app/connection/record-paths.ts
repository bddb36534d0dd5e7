/** The single records that the service shows, with the path and parameters of each. */

import { isSafeId } from '../../contract/fields/record-id.ts'
import { operations } from '../../contract/operations.ts'
import { UsageError } from '../../lib/errors.ts'
import { choiceOf, nearest } from '../../lib/text/nearest.ts'

interface RecordPath {
  /** `{id}` stands for the record; a path without it takes none. */
  readonly path: string
  readonly parameters: readonly string[]
}

/** `/companies` is named companies, `/companies/{id}/competency-matrix` competency-matrix. */
function nameOf(path: string): string {
  const [, first = '', , below] = path.split('/')
  return below ?? first
}

const reads = Object.values(operations)
  .filter(({ answers }) => answers === 'record')
  .map(({ path, parameters }): [string, RecordPath] => [
    nameOf(path),
    { path, parameters: Object.keys(parameters) },
  ])

const recordPaths: Readonly<Record<string, RecordPath>> = {
  me: { path: '/me', parameters: [] },
  ...Object.fromEntries(reads),
}

/** Names of lists; one without an entry above has no read of a single record. */
const lists = new Set(
  Object.values(operations)
    .filter(({ answers }) => answers === 'page')
    .map(({ path }) => nameOf(path)),
)

export interface Asked {
  readonly path: string
  readonly query: Readonly<Record<string, string>>
}

/** `what` is a resource, or a path with its id in it. Throws UsageError before anything is asked. */
export function requestPath(what: string, id: string | undefined, params: readonly string[]): Asked {
  const known = what.startsWith('/') ? pathAsGiven(what, id) : resourceNamed(what, id)
  return { path: known.path, query: queryOf(params, known.parameters) }
}

function pathAsGiven(what: string, id: string | undefined): { path: string; parameters?: readonly string[] } {
  const path = id === undefined ? what : `${what.replace(/\/$/, '')}/${checkedId(id)}`
  const [resource = ''] = path.slice(1).split('/')
  const parameters = path.split('/').length === 3 ? recordPaths[resource]?.parameters : undefined
  if (/^(\/[\w~:%.-]+)+$/.test(path)) return { path, ...(parameters && { parameters }) }
  throw new UsageError({
    what: `${JSON.stringify(what)} is not a path`,
    next: 'write it as /trades/ID, with parameters after --param',
  })
}

function resourceNamed(
  name: string,
  id: string | undefined,
): { path: string; parameters: readonly string[] } {
  const known = recordPaths[name]
  if (!known) throw unknownResource(name)
  if (!known.path.includes('{id}')) {
    if (id === undefined) return known
    throw new UsageError({ what: `${name} takes no id`, next: `muster get ${name}` })
  }
  if (id === undefined) throw new UsageError({ what: `${name} needs an id`, next: `muster get ${name} ID` })
  return { path: known.path.replace('{id}', () => checkedId(id)), parameters: known.parameters }
}

function unknownResource(name: string): UsageError {
  if (lists.has(name)) {
    return new UsageError({
      what: `the service shows no single record of ${name}`,
      next: 'look in the warehouse with muster sql',
    })
  }
  const next = choiceOf(name, Object.keys(recordPaths))
  const listed = nearest(name, [...Object.keys(recordPaths), ...lists])
  if (listed === undefined || Object.hasOwn(recordPaths, listed))
    return new UsageError({ what: `there is no resource ${name}`, next })
  return new UsageError({
    what: `there is no resource ${name}, did you mean ${listed}? The service shows no single record of them`,
    next: 'look in the warehouse with muster sql',
  })
}

function checkedId(id: string): string {
  if (isSafeId(id)) return id
  throw new UsageError({
    what: `${JSON.stringify(id)} is not an id`,
    next: 'give the id or short id of a record',
  })
}

/** Parameters of an unknown path are passed on: the service tells what is wrong with them. */
function queryOf(params: readonly string[], known: readonly string[] | undefined): Record<string, string> {
  return Object.fromEntries(
    params.map(param => {
      const [, name = '', value] = /^([A-Za-z]+)=(.*)$/s.exec(param) ?? []
      if (value === undefined) {
        throw new UsageError({
          what: '--param is not name=value',
          next: 'write it as --param includeConfig=true',
        })
      }
      if (known && !known.includes(name)) throw unknownParameter(name, known)
      return [name, value]
    }),
  )
}

function unknownParameter(name: string, known: readonly string[]): UsageError {
  const next = known.length === 0 ? 'leave it out' : choiceOf(name, known)
  return new UsageError({ what: `there is no parameter ${name} here`, next })
}
