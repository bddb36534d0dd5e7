/**
 * Undici's agent with the one way to ask that is used here. All of undici, with fetch, web sockets, caches and mocks, takes
 * 60 ms of the processor to load.
 */
import type { Agent as WholeAgent } from 'undici'
import request from 'undici/lib/api/api-request.js'
import AgentAlone from 'undici/lib/dispatcher/agent.js'
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'

// As undici itself puts its ways to ask together.
Object.assign(Dispatcher.prototype, { request })

export type Agent = Pick<WholeAgent, 'request' | 'close' | 'destroy'>
export const Agent: new (options: WholeAgent.Options) => Agent = AgentAlone
