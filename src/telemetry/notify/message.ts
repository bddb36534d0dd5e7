/** Writes the notifications of one run as text, and as the JSON that programs, Slack and Teams take. */

export interface Notification {
  readonly type: string
  readonly severity: string
  /** The DAG, resource or alert; empty when it is about the connection. */
  readonly subject: string
  /** One line, without the connection. */
  readonly message: string
  /** SQL that shows the rows. */
  readonly query: string | null
}

export interface NotificationGroup {
  readonly connection: string
  /** At least one, worst first. */
  readonly notifications: readonly Notification[]
}

/** Characters of a line; chat services cut or reject longer messages. */
const longest = 500

const lineOf = ({ connection }: NotificationGroup, { message }: Notification): string => {
  const flat = `${connection}: ${message}`.replaceAll(/\s+/g, ' ')
  return flat.length > longest ? `${flat.slice(0, longest - 1)}…` : flat
}

/** A line for each notification. */
export const textOf = (group: NotificationGroup): string =>
  group.notifications.map(one => lineOf(group, one)).join('\n')

/** For the subject of an e-mail. */
export function titleOf(group: NotificationGroup): string {
  const [first = '', ...others] = textOf(group).split('\n')
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`
  return `${first.length > 120 ? `${first.slice(0, 119)}…` : first}${more}`
}

const details = ({ severity, type }: Notification): string => `${severity}, ${type}`

export const emailText = (group: NotificationGroup): string =>
  group.notifications
    .map(one => [lineOf(group, one), details(one), one.query].filter(line => line !== null).join('\n  '))
    .join('\n\n')

const worstOf = ({ notifications }: NotificationGroup): string => notifications[0]?.severity ?? 'info'

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const slackSigns: Readonly<Record<string, string>> = {
  error: ':red_circle:',
  warning: ':large_orange_circle:',
  info: ':large_green_circle:',
}

/** Slack takes at most 50 blocks. */
const maxBlocks = 49

function slackBody(group: NotificationGroup): object {
  const sections = group.notifications.slice(0, maxBlocks).map(one => {
    const query = one.query === null ? '' : `\n\`\`\`${escaped(one.query)}\`\`\``
    const text = `${slackSigns[one.severity] ?? ''} ${escaped(lineOf(group, one))}${query}`
    return { type: 'section', text: { type: 'mrkdwn', text: text.slice(0, 3000) } }
  })
  return { text: escaped(textOf(group)), blocks: sections }
}

const teamsColours: Readonly<Record<string, string>> = {
  error: 'Attention',
  warning: 'Warning',
  info: 'Good',
}

/** An Adaptive Card, as a workflow of Teams receives it. */
function teamsBody(group: NotificationGroup): object {
  const body = group.notifications.flatMap(one => [
    {
      type: 'TextBlock',
      text: lineOf(group, one),
      wrap: true,
      color: teamsColours[one.severity] ?? 'Default',
    },
    ...(one.query === null
      ? []
      : [{ type: 'TextBlock', text: one.query, wrap: true, fontType: 'Monospace' }]),
  ])
  const card = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
  }
  const contentType = 'application/vnd.microsoft.card.adaptive'
  return { type: 'message', attachments: [{ contentType, content: { ...card, body } }] }
}

/** The body for an address. */
export function jsonBody(group: NotificationGroup, format: 'json' | 'slack' | 'teams'): object {
  if (format === 'slack') return slackBody(group)
  if (format === 'teams') return teamsBody(group)
  const { connection, notifications } = group
  return { text: textOf(group), connection, severity: worstOf(group), notifications }
}

/** Variables of a command. */
export const messageVariables = (group: NotificationGroup): Readonly<Record<string, string>> => ({
  MUSTER_MESSAGE: textOf(group),
  MUSTER_CONNECTION: group.connection,
  MUSTER_SEVERITY: worstOf(group),
  MUSTER_TYPES: [...new Set(group.notifications.map(({ type }) => type))].join(','),
})
