/**
 * Forged deliveries over bare sockets, as a process of its own: `flood.ts URL PER_SECOND SECONDS`, 0 a second for as many as
 * are answered. Prints what came back as JSON.
 */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { type Answered, forgedBody } from './delivery.ts'

const [url = '', perSecond = 0, seconds = 0] = process.argv
  .slice(2)
  .map((text, at) => (at ? Number(text) : text)) as [string, number, number]
const { hostname, port, pathname } = new URL(url)
const connections = 64
/** Requests of a connection that wait for their answer, where no rate is given. */
const inFlight = 4
/** Milliseconds for answers that are still to come. */
const patience = 5000

/** All is right but the signature, so that a digest is computed for each; made before the clock starts. */
const forgeries = Array.from({ length: 512 }, (_, index) => {
  const body = forgedBody(index)
  return Buffer.from(
    [
      `POST ${pathname} HTTP/1.1`,
      `host: ${hostname}:${port}`,
      'content-type: application/json',
      `x-service-timestamp: ${new Date().toISOString()}`,
      `x-service-signature: ${randomBytes(32).toString('hex')}`,
      `content-length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n'),
  )
})

const waits: number[] = []
const statuses: Record<string, number> = {}
let sent = 0

class Sender {
  readonly socket: Socket
  readonly #due: number[] = []
  #rest = ''

  constructor() {
    this.socket = connect(Number(port), hostname)
    this.socket.setNoDelay(true)
    this.socket.on('data', data => this.#read(data.toString('latin1')))
  }

  push(due: number): void {
    this.#due.push(due)
    this.socket.write(forgeries[sent % forgeries.length] ?? '')
    sent += 1
  }

  /** Answers have no body. */
  #read(text: string): void {
    const answers = (this.#rest + text).split('\r\n\r\n')
    this.#rest = answers.pop() ?? ''
    for (const answer of answers) {
      const status = answer.slice(9, 12)
      statuses[status] = (statuses[status] ?? 0) + 1
      waits.push(performance.now() - (this.#due.shift() ?? 0))
      if (perSecond === 0 && performance.now() < end) this.push(performance.now())
    }
  }
}

const senders = Array.from({ length: connections }, () => new Sender())
await Promise.all(senders.map(({ socket }) => once(socket, 'connect')))
const started = performance.now()
const end = started + seconds * 1000

/** Open loop: a receiver that is late does not slow the sender down, so that its lateness is seen. */
async function atRate(): Promise<void> {
  for (const total = perSecond * seconds; sent < total; await wait(1)) {
    const due = Math.min(total, ((performance.now() - started) / 1000) * perSecond)
    while (sent < due) senders[sent % connections]?.push(started + (sent / perSecond) * 1000)
  }
}

async function asAnswered(): Promise<void> {
  for (const sender of senders) for (let one = 0; one < inFlight; one += 1) sender.push(performance.now())
  await wait(seconds * 1000)
}

await (perSecond === 0 ? asAnswered() : atRate())
for (let waited = 0; waits.length < sent && waited < patience; waited += 5) await wait(5)
const { user, system } = process.cpuUsage()
const answered: Answered = {
  waits: waits.sort((left, right) => left - right),
  statuses: waits.length < sent ? { ...statuses, none: sent - waits.length } : statuses,
  seconds: (performance.now() - started) / 1000,
  cpuSeconds: (user + system) / 1e6,
}
// A pipe takes its time: the process ends when all of it is through.
process.stdout.write(JSON.stringify(answered), () => process.exit(0))
