/** How many requests a web server answers at once, per connection and in all. */
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { InFlight } from '../../src/lib/web/in-flight.ts'

const connection = () => Object.assign(new EventEmitter(), { pause: () => undefined }) as unknown as Socket

const sender = (inFlight: InFlight, socket = connection()) => {
  const responses: EventEmitter[] = []
  const send = (): string => {
    const response = new EventEmitter()
    responses.push(response)
    return inFlight.admit({ socket }, response as never)
  }
  return { socket, send, answerFirst: () => responses.shift()?.emit('close') }
}

test('admits a connection up to its bound, refuses one request more, and ignores the rest', () => {
  const { send, answerFirst } = sender(new InFlight({ perConnection: 2, inAll: 10 }))
  expect([send(), send(), send(), send()]).toEqual(['admitted', 'admitted', 'refused', 'ignored'])
  answerFirst()
  expect(send()).toBe('ignored')
})

test('admits the next request of a connection once an earlier one is answered', () => {
  const { send, answerFirst } = sender(new InFlight({ perConnection: 1, inAll: 10 }))
  expect(send()).toBe('admitted')
  answerFirst()
  expect(send()).toBe('admitted')
})

test('refuses beyond the bound in all, until a response is sent or a connection closes', () => {
  const inFlight = new InFlight({ perConnection: 2, inAll: 3 })
  const [one, other] = [sender(inFlight), sender(inFlight)]
  expect([one.send(), one.send(), other.send(), sender(inFlight).send()]).toEqual([
    'admitted',
    'admitted',
    'admitted',
    'refused',
  ])
  other.answerFirst()
  expect(sender(inFlight).send()).toBe('admitted')
  one.socket.emit('close')
  // A response that is reported after its connection closed is not counted twice.
  one.answerFirst()
  expect([sender(inFlight).send(), sender(inFlight).send(), sender(inFlight).send()]).toEqual([
    'admitted',
    'admitted',
    'refused',
  ])
})
