/**
 * Detects a dead server: to a client, a long statement and a dead server look the same, and TCP alone needs a quarter of an
 * hour. While a statement returns nothing, a second connection asks the server about it.
 */
import type pg from 'pg'

export interface SilenceLimits {
  /** How long a connection may take, in milliseconds. */
  readonly connectMs: number
  /** Milliseconds between two looks at the connection. */
  readonly lookMs: number
  /** After this many looks in a row without a byte, the server is asked. */
  readonly quietLooks: number
  /** How long the server may take to answer, in milliseconds. */
  readonly answerMs: number
  /** After this many questions in a row with no answer, or the answer "waiting for the client", the server counts as lost. */
  readonly questions: number
}

/** Detects a dead server within 55 s, half of the two minutes that a run has to end. */
export const defaultPatience: SilenceLimits = {
  connectMs: 15_000,
  lookMs: 5000,
  quietLooks: 3,
  answerMs: 10_000,
  questions: 3,
}

/** Private parts of the driver's client. */
interface DriverParts {
  readonly readyForQuery: boolean
  readonly connection: {
    readonly stream: {
      readonly bytesRead: number
      readonly bytesWritten: number
      destroy(error?: Error): void
    }
  }
}

const inside = (client: pg.Client): DriverParts => client as unknown as DriverParts

/** Closes the connection without notifying the server. */
export const cutOff = (client: pg.Client, error?: Error): void =>
  inside(client).connection.stream.destroy(error)

const silentCode = 'ESILENT'

const silent = (): Error => Object.assign(new Error('the server has stopped answering'), { code: silentCode })

/** `isWorking` asks the server whether it works on the client's statement; it resolves in time and never rejects. */
export function watchSilence(
  client: pg.Client,
  { lookMs, quietLooks, questions }: SilenceLimits,
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
