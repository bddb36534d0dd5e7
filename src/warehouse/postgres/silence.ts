/**
 * Notices that a server has vanished: to its client, a statement that takes long and one whose server is gone look the same,
 * and TCP alone needs a quarter of an hour. While a statement brings nothing, a second connection asks for it.
 */
import type pg from 'pg'

export interface Patience {
  /** How long a connection may take, in milliseconds. */
  readonly connectMs: number
  /** Between two looks, in milliseconds. */
  readonly lookMs: number
  /** Looks in a row without a byte, after which the server is asked. */
  readonly quietLooks: number
  /** How long the server may take to answer, in milliseconds. */
  readonly answerMs: number
  /** Questions in a row that are not answered, or answered with "it waits for you", after which the server is lost. */
  readonly questions: number
}

/** A vanished server is noticed within 55 s, which leaves a minute of two to end the run. */
export const usualPatience: Patience = {
  connectMs: 15_000,
  lookMs: 5000,
  quietLooks: 3,
  answerMs: 10_000,
  questions: 3,
}

/** What the driver keeps of its connection. */
interface Inside {
  readonly readyForQuery: boolean
  readonly connection: {
    readonly stream: {
      readonly bytesRead: number
      readonly bytesWritten: number
      destroy(error?: Error): void
    }
  }
}

const inside = (client: pg.Client): Inside => client as unknown as Inside

/** Ends the connection without a word to the server. */
export const cutOff = (client: pg.Client, error?: Error): void =>
  inside(client).connection.stream.destroy(error)

const silentCode = 'ESILENT'

const silent = (): Error => Object.assign(new Error('the server has stopped answering'), { code: silentCode })

/** `isWorking` asks the server whether it works on the statement of the client; it resolves in time, and never rejects. */
export function watchSilence(
  client: pg.Client,
  { lookMs, quietLooks, questions }: Patience,
  isWorking: () => Promise<boolean>,
): void {
  const { stream } = inside(client).connection
  let [seen, quiet, unanswered] = [0, 0, 0]
  let isAsking = false
  const look = async (): Promise<void> => {
    const bytes = stream.bytesRead + stream.bytesWritten
    const isQuiet = !inside(client).readyForQuery && bytes === seen
    seen = bytes
    quiet = isQuiet ? quiet + 1 : 0
    if (!isQuiet) unanswered = 0
    if (quiet < quietLooks || isAsking) return
    isAsking = true
    const isAlive = await isWorking()
    isAsking = false
    unanswered = isAlive ? 0 : unanswered + 1
    if (isAlive) quiet = 0
    const hasAnswered = inside(client).readyForQuery || stream.bytesRead + stream.bytesWritten !== seen
    if (unanswered >= questions && !hasAnswered) cutOff(client, silent())
  }
  const timer = setInterval(() => void look(), lookMs).unref()
  client.once('end', () => clearInterval(timer))
}
