/** `muster get PATH-OR-RESOURCE [ID]`: shows one record as the service returns it. */

import { openAdHocClient } from '../../app/connection/ad-hoc-client.ts'
import { isSafeId } from '../../contract/fields/record-id.ts'
import { operations } from '../../contract/operations.ts'
import { UsageError } from '../../lib/errors.ts'
import { choiceOf, nearest } from '../../lib/text/nearest.ts'
import { anyText, type CommandModule, listOption, repeated } from '../command.ts'
import { printJson } from '../terminal/output.ts'

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

/** Requests for single records, with the path and parameters of each. */
const recordPaths: Readonly<Record<string, RecordPath>> = {
  me: { path: '/me', parameters: [] },
  ...Object.fromEntries(reads),
}

/** Names of lists; for those without an entry above, the service has no request for a single record. */
const lists = new Set(
  Object.values(operations)
    .filter(({ answers }) => answers === 'page')
    .map(({ path }) => nameOf(path)),
)

interface RecordRequest {
  readonly path: string
  readonly query: Readonly<Record<string, string>>
}

/** `what` is a resource, or a path with its id in it. Throws UsageError before any request. */
function requestPath(what: string, id: string | undefined, params: readonly string[]): RecordRequest {
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
      what: `the service has no request for a single record of ${name}`,
      next: 'look in the warehouse with muster sql',
    })
  }
  const next = choiceOf(name, Object.keys(recordPaths))
  const listed = nearest(name, [...Object.keys(recordPaths), ...lists])
  if (listed === undefined || Object.hasOwn(recordPaths, listed))
    return new UsageError({ what: `there is no resource ${name}`, next })
  return new UsageError({
    what: `there is no resource ${name}, did you mean ${listed}? The service has no request for a single record of them`,
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

/** Passes on the parameters of an unknown path: the service reports what is wrong with them. */
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

export const command: CommandModule = {
  arguments: [
    {
      name: '<what>',
      summary: 'a resource, such as requisitions, or a path that begins with /',
      completes: 'resource',
    },
    { name: '[id]', summary: 'id or short id of the record' },
  ],
  options: [
    {
      flags: '--param <name=value>',
      summary: 'a query parameter; may be repeated',
      parse: repeated(anyText),
    },
  ],
  examples: [
    'muster get requisitions 65f0c2a1b3d4e5f60718293a',
    'muster get /trades/65f0c2a1b3d4e5f60718293a --param includeRates=true',
    'muster get me',
  ],
  run: async (context, [what = '', id], options) => {
    const { path, query } = requestPath(what, id, listOption(options, 'param'))
    const { client, close } = await openAdHocClient(context.connection(), context)
    try {
      const { record } = await client.getRecord(path, query, { purpose: 'operator' })
      printJson(context, record)
      return 0
    } finally {
      await close()
    }
  },
}
