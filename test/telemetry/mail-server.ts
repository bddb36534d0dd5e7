/** A real SMTP server on loopback that keeps the e-mails it accepts. */
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { atEndOfTest } from '../support/ends.ts'

export interface ReceivedEmail {
  readonly to: readonly string[]
  readonly text: string
}

/** `answer` gives the code of a refusal, or undefined. With `password`, only the user `muster` may send. */
export async function mailServer(answer: () => number | undefined = () => undefined, password?: string) {
  const emails: ReceivedEmail[] = []
  const server = new SMTPServer({
    authOptional: password === undefined,
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    onAuth: (auth, _, done) =>
      auth.username === 'muster' && auth.password === password
        ? done(null, { user: 'muster' })
        : done(new Error('wrong password')),
    onData: (stream, session, done) => {
      let text = ''
      stream.on('data', part => {
        text += part
      })
      stream.on('end', () => {
        const code = answer()
        if (code !== undefined) return done(Object.assign(new Error('refused'), { responseCode: code }))
        emails.push({ to: session.envelope.rcptTo.map(({ address }) => address), text })
        return done()
      })
    },
  })
  server.on('error', () => undefined)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', () => resolve()))
  atEndOfTest(async () => new Promise(resolve => server.close(() => resolve(undefined))))
  return { emails, port: (server.server.address() as AddressInfo).port }
}
