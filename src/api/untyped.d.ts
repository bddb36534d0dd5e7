/** Declares types for files of undici without any. */
declare module 'undici/lib/api/api-request.js' {
  const request: unknown
  export = request
}

declare module 'undici/lib/api/api-connect.js' {
  const connect: unknown
  export = connect
}

declare module 'undici/lib/dispatcher/dispatcher.js' {
  import { Dispatcher } from 'undici'
  export = Dispatcher
}

declare module 'undici/lib/dispatcher/agent.js' {
  import { Agent } from 'undici'
  export = Agent
}

declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici'
  export = Pool
}

declare module 'undici/lib/dispatcher/proxy-agent.js' {
  import { ProxyAgent } from 'undici'
  export = ProxyAgent
}
