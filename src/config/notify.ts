/** Declares the settings of notifications: where they go, the severity of each type, and the limits of each. */
import * as z from 'zod'
import { isLoopback } from '../lib/web/address-kind.ts'
import { type GroupContext, type ReceiverSettings, receiver, receiverIn } from './receiver.ts'
import { readSecret, type Secret } from './secrets.ts'
import { dotted, type SettingsPath } from './source.ts'
import { integer, wordOf } from './values.ts'

/** Worst first; `off` sends nothing. */
export const severities = ['error', 'warning', 'info', 'off'] as const
export type Severity = (typeof severities)[number]

export const severity = wordOf(severities)

const ofType = (fallback: Severity, what: string) => severity.default(fallback).describe(what)

/** Each is sent once, and again when it changes. */
const types = z
  .strictObject({
    runFailed: ofType('error', 'A task of a DAG failed.'),
    runIncomplete: ofType('warning', 'A DAG was partial; the next run continues.'),
    runRecovered: ofType('info', 'A DAG that was reported is done again.'),
    schemaDrift: ofType('warning', 'A resource has a new field, a new value or a changed type.'),
    quarantine: ofType('warning', 'A resource has more than quarantineAbove records in quarantine.'),
    freshness: ofType('error', 'A resource was last read completely more than freshnessHours ago.'),
    budget: ofType('warning', 'At most budgetPercent of the requests of the day are left.'),
    keyExpiry: ofType('warning', 'The API key expires in at most expiryDays.'),
    webhooksSilent: ofType('warning', 'The last webhook event came more than webhookHours ago.'),
    deletionsHeld: ofType('warning', 'A sweep found an implausible number of records missing.'),
    crosscheck: ofType('warning', 'Figures differ from those of the service for no known reason.'),
    alert: ofType('warning', 'An alert of `alerts` fires that has no severity of its own.'),
  })
  .prefault({})
  .describe('Severity of each type: error, warning, info, or off.')

export const typeNames = Object.keys(types.parse({})) as readonly (keyof z.infer<typeof types>)[]
export type NotificationType = (typeof typeNames)[number]

const addressRule = 'must be an e-mail address, as in data@example.com'

const formats = ['json', 'slack', 'teams'] as const

export const notify = z
  .strictObject({
    ...receiver('Address that receives notifications as JSON.'),
    format: wordOf(formats)
      .default('json')
      .describe('What the address takes: json, or the messages of slack or teams.'),
    command: z
      .string()
      .min(1, 'must be a command')
      .optional()
      .describe('A command for the shell; it gets the message on stdin and in MUSTER_MESSAGE.'),
    smtp: z
      .string()
      .refine(isSmtp, 'must be smtp://HOST:PORT or smtps://HOST:PORT, with USER@ before HOST to log in')
      .meta({ pattern: '^smtps?://' })
      .optional()
      .describe('Mail server: smtps:// encrypts from the start, smtp:// if the server offers STARTTLS.'),
    smtpPassword: z
      .string()
      .meta({ pattern: '^file:' })
      .optional()
      .describe('Password of the user in smtp: a variable in braces after a $, or file:NAME.'),
    smtpPasswordFile: z.string().optional().describe('A file with that password.'),
    emailFrom: z.string().refine(isAddress, addressRule).optional().describe('Sender of e-mails.'),
    emailTo: z
      .string()
      .refine(text => text.split(',').every(isAddress), addressRule)
      .optional()
      .describe('Addresses that receive e-mails, separated by commas.'),
    seconds: integer(1, 300).default(10).describe('Seconds that each may take.'),
    types,
    quarantineAbove: integer(0)
      .default(0)
      .describe('Records of a resource in quarantine without a notification.'),
    freshnessHours: integer(1).default(36).describe('Hours since a complete read without a notification.'),
    budgetPercent: integer(0, 100).default(10).describe('Percent of the requests of a day.'),
    expiryDays: integer(1).default(14).describe('Days before the API key expires.'),
    webhookHours: integer(1).default(72).describe('Hours without a webhook event; only once one has come.'),
  })
  .describe('Where notifications go, and of what.')

function isSmtp(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, password } = new URL(text)
  return /^smtps?:$/.test(protocol) && hostname !== '' && password === ''
}

function isAddress(text: string): boolean {
  return /^[^\s@,<>]+@[^\s@,<>]+$/.test(text.trim())
}

type RawNotify = z.infer<typeof notify>

export interface EmailSettings {
  readonly host: string
  readonly port: number
  /** Encrypted from the start. */
  readonly isSecure: boolean
  /** Refuses a server without STARTTLS, as the password would be readable on the way. */
  readonly needsTls: boolean
  readonly user?: string
  readonly password?: Secret
  readonly from: string
  readonly to: string
}

type NotificationLimits = Pick<
  RawNotify,
  'quarantineAbove' | 'freshnessHours' | 'budgetPercent' | 'expiryDays' | 'webhookHours'
>

export interface NotifySettings extends ReceiverSettings, NotificationLimits {
  readonly format: (typeof formats)[number]
  readonly command?: string
  readonly email?: EmailSettings
  /** Limit of each channel. */
  readonly seconds: number
  readonly types: Readonly<Record<NotificationType, Severity>>
}

function emailIn(raw: RawNotify, path: SettingsPath, place: GroupContext): EmailSettings | undefined {
  const { smtp, smtpPassword, smtpPasswordFile, emailFrom: from, emailTo: to } = raw
  const problem = (name: string, text: string): void =>
    place.findings.problem([...path, name], `${dotted([...path, name])} ${text}`)
  if (smtp === undefined) {
    if (from !== undefined || to !== undefined) problem('smtp', 'is missing: e-mail needs it')
    return undefined
  }
  if (from === undefined) problem('emailFrom', 'is missing: smtp needs it')
  if (to === undefined) problem('emailTo', 'is missing: smtp needs it')
  const hasPassword = smtpPassword !== undefined || smtpPasswordFile !== undefined
  const at = { ...place, path: [...path, 'smtpPassword'], filePath: [...path, 'smtpPasswordFile'] }
  const password = hasPassword ? readSecret(at, smtpPassword, smtpPasswordFile) : undefined
  const { protocol, hostname, port, username } = new URL(smtp)
  if (hasPassword && username === '')
    problem('smtp', 'names no user for smtpPassword: write USER@ before HOST')
  if (from === undefined || to === undefined) return undefined
  const isSecure = protocol === 'smtps:'
  const isSafe = isSecure || !password || isLoopback(hostname)
  return {
    host: hostname,
    port: port === '' ? (isSecure ? 465 : 587) : Number(port),
    isSecure,
    needsTls: !isSafe,
    ...(username !== '' && { user: decodeURIComponent(username) }),
    ...(password && { password }),
    from,
    to,
  }
}

export function buildNotify(
  raw: RawNotify,
  path: SettingsPath,
  place: GroupContext,
): NotifySettings | undefined {
  const posted = receiverIn(raw, ['command', 'smtp'], { path, place })
  const email = emailIn(raw, path, place)
  const { format, command, seconds, types } = raw
  const { quarantineAbove, freshnessHours, budgetPercent, expiryDays, webhookHours } = raw
  const limits = { quarantineAbove, freshnessHours, budgetPercent, expiryDays, webhookHours }
  const more = { ...(command !== undefined && { command }), ...(email && { email }) }
  return posted && { ...posted, ...more, format, seconds, types, ...limits }
}
