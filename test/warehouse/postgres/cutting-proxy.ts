/** A way to the server that is cut after so many bytes, as by a firewall or a server that is gone. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/**
 * `reset`: as when the machine crashed and is up again; `end`: as when the server closes; `vanish`: as when machine or network
 * are gone, and nobody says so; `forget`: as a firewall that drops what it has forgotten, and lets new connections through.
 */
export type Cut = 'reset' | 'end' | 'vanish' | 'forget'

export class CuttingProxy {
  readonly #server: Server
  readonly #to: URL
  readonly #open = new Set<Socket>()
  #left = Number.POSITIVE_INFINITY
  #cut: Cut = 'reset'
  #from = ''
  #hasVanished = false
  readonly #forgotten = new Set<Socket>()
  /** Bytes that clients sent so far. */
  sent = 0

  private constructor(server: Server, to: URL) {
    this.#server = server
    this.#to = to
  }

  static async before(url: string): Promise<CuttingProxy> {
    const server = createServer()
    const proxy = new CuttingProxy(server, new URL(url))
    server.on('connection', client => proxy.#forward(client))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return proxy
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo
    return Object.assign(new URL(this.#to), { host: `127.0.0.1:${port}` }).href
  }

  /** Connections are cut once, after so many more bytes of clients, counted from those that hold a text. */
  cutAfter(bytes: number, cut: Cut, from = ''): void {
    this.#left = bytes
    this.#cut = cut
    this.#from = from
  }

  #forward(client: Socket): void {
    const server = connect(Number(this.#to.port || 5432), this.#to.hostname)
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#open.add(one)
      one.on('close', () => {
        this.#open.delete(one)
        other.destroy()
      })
      // The other end is closed too, which is what matters.
      one.on('error', () => undefined)
    }
    server.on('data', data => {
      if (!this.#isDropped(server)) client.write(data)
    })
    client.on('data', data => {
      if (!this.#isDropped(server)) this.#send(server, data)
    })
  }

  #isDropped(server: Socket): boolean {
    return this.#hasVanished || this.#forgotten.has(server)
  }

  /** From now on nothing passes any more, in either direction. */
  vanish(): void {
    this.#hasVanished = true
  }

  /** From now on nothing passes on the connections that are open. */
  forget(): void {
    for (const socket of this.#open) this.#forgotten.add(socket)
  }

  #send(server: Socket, data: Buffer): void {
    this.sent += data.length
    if (data.includes(this.#from)) this.#from = ''
    if (this.#from === '') this.#left -= data.length
    if (this.#left > 0) {
      server.write(data)
      return
    }
    this.#left = Number.POSITIVE_INFINITY
    if (this.#cut === 'vanish') this.vanish()
    else if (this.#cut === 'forget') this.forget()
    else for (const socket of this.#open) this.#cut === 'reset' ? socket.resetAndDestroy() : socket.end()
  }

  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
