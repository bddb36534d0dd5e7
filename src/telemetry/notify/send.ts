/** Sends a group of notifications to one channel: an address, a command or by e-mail. */
import { runNotifier } from '../notifier.ts'
import { type PostReceiver, post } from '../post.ts'
import { type EmailReceiver, sendEmail } from './email.ts'
import { emailText, jsonBody, messageVariables, type NotificationGroup, textOf, titleOf } from './message.ts'

/** What the settings configure; `signal` and `timeoutMs` hold for each channel. */
export interface NotificationChannels {
  readonly url?: Pick<PostReceiver, 'url' | 'token' | 'proxies'> | undefined
  readonly format: 'json' | 'slack' | 'teams'
  readonly command?: string | undefined
  readonly email?: Omit<EmailReceiver, 'timeoutMs' | 'signal'> | undefined
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

export const channelNames = ['url', 'command', 'email'] as const
export type ChannelName = (typeof channelNames)[number]

/** Channels that are configured. */
export const configuredChannels = (channels: NotificationChannels): ChannelName[] =>
  channelNames.filter(name => channels[name] !== undefined)

/** Returns undefined if it was accepted, otherwise why not, without addresses, which may be secret. */
export async function sendTo(
  name: ChannelName,
  group: NotificationGroup,
  channels: NotificationChannels,
): Promise<string | undefined> {
  const { url, format, command, email, cwd, env, timeoutMs, signal } = channels
  if (name === 'url') return url && post({ ...url, timeoutMs, signal }, jsonBody(group, format))
  if (name === 'email')
    return (
      email && sendEmail({ ...email, timeoutMs, signal }, { subject: titleOf(group), text: emailText(group) })
    )
  if (command === undefined) return undefined
  const notifier = { command, timeoutMs, cwd, env: { ...env, ...messageVariables(group) }, signal }
  return runNotifier(notifier, textOf(group))
}
