/** Faults with an error status: 500 with bodies outside the contract, and storms of 429. */
import { errorBody } from '../refusals/api-error.ts'
import { type Answer, type Fault, htmlType, oneOf, respond } from './answer.ts'

const page = '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>'
const bare = [
  '{"error":"something went wrong"}',
  '{"message":"internal","code":"E1"}',
  '[]',
  '"internal"',
  'null',
]

/** The most answers in a row. Our client repeats a request five times, so some storms outlast it. */
const longestStorm = 7

function storm(answer: Answer, headers: Record<string, string>): true {
  return respond(answer, {
    status: 429,
    headers,
    body: JSON.stringify(errorBody(429, 'rate limit exceeded')),
  })
}

export const refusals = {
  'error-html': {
    meaning: '500 with a page of HTML',
    send: answer => respond(answer, { status: 500, headers: { 'content-type': htmlType }, body: page }),
  },
  'error-empty': {
    meaning: '500 without a body',
    send: answer => respond(answer, { status: 500, body: '' }),
  },
  'error-bare': {
    meaning: '500 with JSON that is no envelope',
    send: answer => respond(answer, { status: 500, body: oneOf(answer.draw, bare) }),
  },
  'error-cut': {
    meaning: '500 with JSON that breaks off',
    send: answer => respond(answer, { status: 500, body: '{"success":false,"error":{"code":"INTERN' }),
  },
  'limit-storm': {
    meaning: 'a run of 429 with Retry-After; reads only',
    longest: longestStorm,
    readsOnly: true,
    send: answer => storm(answer, { 'retry-after': oneOf(answer.draw, ['1', '2']) }),
  },
  'silent-storm': {
    meaning: 'a run of 429 without Retry-After; reads only',
    longest: longestStorm,
    readsOnly: true,
    send: answer => storm(answer, {}),
  },
} as const satisfies Readonly<Record<string, Fault>>
