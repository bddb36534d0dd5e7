/** Sends an e-mail through a server that speaks SMTP. */
import { createTransport } from 'nodemailer'
import pTimeout, { TimeoutError } from 'p-timeout'

export interface EmailReceiver {
  readonly host: string
  readonly port: number
  readonly isSecure: boolean
  readonly needsTls: boolean
  readonly user?: string | undefined
  readonly password?: string | undefined
  readonly from: string
  readonly to: string
  /** Milliseconds. */
  readonly timeoutMs: number
  /** Cancels sending when aborted. */
  readonly signal: AbortSignal
}

function why(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code, responseCode } = error as { code?: string; responseCode?: number }
  // The answer of a server may quote addresses; its code says enough.
  if (code === 'EAUTH') return 'the server refused user or password'
  if (responseCode !== undefined) return `the server answered ${responseCode}`
  if (code === 'ETIMEDOUT' || error instanceof TimeoutError) return 'the server did not answer in time'
  return `the server could not be used (${code ?? error.message})`
}

/** Returns undefined if the server accepted it for every address, otherwise why not. */
export async function sendEmail(
  receiver: EmailReceiver,
  { subject, text }: { readonly subject: string; readonly text: string },
): Promise<string | undefined> {
  const { host, port, isSecure, needsTls, user, password, from, to, timeoutMs, signal } = receiver
  const transport = createTransport({
    host,
    port,
    secure: isSecure,
    requireTLS: needsTls,
    ...(user !== undefined && { auth: { user, pass: password ?? '' } }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
  })
  try {
    const sending = transport.sendMail({ from, to, subject, text })
    const { rejected } = await pTimeout(sending, { milliseconds: timeoutMs, signal })
    return rejected.length === 0 ? undefined : `the server refused ${rejected.length} of the addresses`
  } catch (error) {
    return signal.aborted ? 'muster was stopped' : why(error)
  } finally {
    transport.close()
  }
}
