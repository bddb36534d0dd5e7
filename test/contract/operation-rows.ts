/** Each operation answered 200 to the keys that may call it, and to Muster's client through the method for it. */
import { expect } from 'vitest'
import {
  type Client,
  createClient,
  type FetchedPage,
  type FetchedRecord,
} from '../../src/api/client/client.ts'
import { reads } from '../../src/api/client/reads.ts'
import { createUpload } from '../../src/api/uploads.ts'
import { createWorker, updateWorker } from '../../src/api/workers.ts'
import type { Operation as AnyOperation } from '../../src/contract/fields/operation.ts'
import { operations } from '../../src/contract/operations.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { person } from '../sandbox/writes/worker-inputs.ts'
import { OPERATIONS, type Operation } from './operations.ts'
import type { Row } from './row.ts'
import type { Stand } from './stand.ts'
import { bodyOf, declaration, keyOf, targetOf, workerOf } from './targets.ts'

async function withClient<T>(
  stand: Stand,
  operation: string,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const apiKey = stand.keyText(keyOf(operation))
  const client = createClient({ baseUrl: stand.sandbox.url, apiKey, clock: systemClock, rng: () => 0 })
  const found = await use(client)
  await client.close()
  return found
}

const writes: Readonly<Record<string, (client: Client, stand: Stand) => Promise<unknown>>> = {
  createWorker: client => createWorker(client, person()),
  updateWorker: (client, stand) =>
    updateWorker(client, { id: workerOf(stand), changes: { lastName: 'Else' } }),
  createUpload: (client, stand) => createUpload(client, declaration(workerOf(stand)) as never),
}

/** The typed reads of a path. */
const readsOf = (path: string) =>
  Object.entries(operations).flatMap(([name, operation]) =>
    operation.path === path ? [name as ReadName] : [],
  )

type ReadName = keyof typeof operations

/** The methods of the client that an operation is called by. */
function clientCalls({ name }: Pick<Operation, 'name'>): readonly string[] {
  if (name === 'GET /me') return ['getMe']
  if (name === 'POST /workers') return ['createWorker']
  if (name === 'PATCH /workers/{id}') return ['updateWorker']
  if (name === 'POST /files/uploads') return ['createUpload']
  return readsOf(name.slice('GET '.length))
}

/** Whatever the method, its answer is the one that the same request has without it. */
async function throughRead(stand: Stand, client: Client, [method, path]: readonly [ReadName, string]) {
  const { path: pattern, fixed = {} } = operations[method] as AnyOperation
  const extra = method === 'groupAccessRules' ? { groupBy: 'rule' } : {}
  const id = path.split('/')[2] ?? ''
  const given = pattern.includes('{id}') ? [id, extra] : [extra]
  const call = reads(client)[method] as (...all: unknown[]) => Promise<FetchedPage | FetchedRecord>
  const answer = await call(...given)
  const query = new URLSearchParams({ ...fixed, ...extra, limit: '200' })
  const plain = 'record' in answer ? path : `${path}?${query}`
  const { body } = await stand.send(`GET ${plain}`, { key: keyOf(`GET ${pattern}`) })
  if ('record' in answer) expect(answer.record).toEqual(body.data)
  else expect([answer.records(), answer.meta]).toEqual([body.data, body.meta])
}

const show = (operation: Operation) => async (stand: Stand) => {
  const { name } = operation
  const target = targetOf(stand, name)
  const { status, body } = await stand.send(target, { key: keyOf(name), body: bodyOf(stand, name) })
  expect([status, body.success]).toEqual([200, true])
  const violations = stand.sandbox.violations().length
  const calls = clientCalls(operation)
  expect(calls).not.toEqual([])
  await withClient(stand, name, async client => {
    for (const call of calls) {
      const write = writes[call]
      if (write) {
        const known = name.includes('/workers') ? 'reference' : 'uploadToken'
        expect(await write(client, stand)).toMatchObject({ [known]: expect.stringMatching(/^.{8,}$/) })
      } else if (call === 'getMe') expect((await client.getMe()).kind).toBe('company')
      else await throughRead(stand, client, [call as ReadName, target.slice('GET '.length)])
    }
  })
  expect(stand.sandbox.violations().slice(violations)).toEqual([])
}

export const operationRows: readonly Row[] = OPERATIONS.map(operation => ({
  kind: 'operation',
  what: `${operation.name} by ${clientCalls(operation).join(', ')}`,
  where: '4',
  show: show(operation),
}))
