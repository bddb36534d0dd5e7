/** Files of undici that declare no types. */
declare module 'undici/lib/api/api-request.js' {
  const request: unknown
  export = request
}

declare module 'undici/lib/dispatcher/dispatcher.js' {
  import { Dispatcher } from 'undici'
  export = Dispatcher
}

declare module 'undici/lib/dispatcher/agent.js' {
  import { Agent } from 'undici'
  export = Agent
}
