/**
 * Declares the settings of outgoing messages: notifications of a DAG's status (`notify`) and lineage of runs (`lineage`).
 * Messages are posted to an address, which may be secret, with a token.
 */

import { resolve } from 'node:path'
import * as z from 'zod'
import { whyNotLocal } from '../lib/input-file.ts'
import { isLoopback } from '../lib/web/address-kind.ts'
import { readSecret, Secret, type SettingsFindings } from './secrets.ts'
import { dotted, type SettingsPath, type SettingsSource } from './source.ts'
import { address, integer, isHttp } from './values.ts'

interface GroupContext {
  readonly source: SettingsSource
  readonly cwd: string
  readonly findings: SettingsFindings
}

/** The settings of a receiver; `posted` describes its address. */
const receiver = (posted: string) => ({
  url: address.optional().describe(posted),
  urlFile: z.string().optional().describe('A file with that address.'),
  token: z
    .string()
    .meta({ pattern: '^file:' })
    .optional()
    .describe('Sent as a bearer token: a variable in braces after a $, or file:NAME.'),
  tokenFile: z.string().optional().describe('A file with the token.'),
})

type RawReceiver = { readonly [name in keyof ReturnType<typeof receiver>]?: string | undefined }

interface ReceiverSettings {
  /** Always secret, because the addresses of chat services are. */
  readonly url?: Secret
  readonly token?: Secret
}

function addressIn(
  { url, urlFile }: RawReceiver,
  path: SettingsPath,
  place: GroupContext,
): Secret | undefined {
  const at = { ...place, path: [...path, 'url'], filePath: [...path, 'urlFile'] }
  if (urlFile === undefined) return url === undefined ? undefined : new Secret(url)
  const read = readSecret(at, url, urlFile)
  if (!read || isHttp(read.reveal())) return read
  place.findings.problem(at.filePath, `${dotted(at.filePath)} names a file without an address`)
  return undefined
}

function tokenIn(
  { token, tokenFile }: RawReceiver,
  path: SettingsPath,
  place: GroupContext,
): Secret | undefined {
  if (token === undefined && tokenFile === undefined) return undefined
  return readSecret(
    { ...place, path: [...path, 'token'], filePath: [...path, 'tokenFile'] },
    token,
    tokenFile,
  )
}

/** Over plain http, others could read the token and send messages with it. */
function requireSafe({ url, token }: ReceiverSettings, path: SettingsPath, { findings }: GroupContext): void {
  const { protocol, hostname, username, password } = new URL(url?.reveal() ?? 'https://none')
  const at = [...path, 'url']
  if (username !== '' || password !== '')
    findings.problem(at, `${dotted(at)} carries credentials: write them to ${dotted([...path, 'token'])}`)
  else if (token && protocol === 'http:' && !isLoopback(hostname))
    findings.problem(at, `${dotted(at)} is http, and its token would be readable on the way: use https`)
}

/** Reports a problem and returns undefined if neither an address nor the setting `other` is given. */
function receiverIn(
  raw: RawReceiver & { readonly [name: string]: unknown },
  other: string,
  { path, place }: { readonly path: SettingsPath; readonly place: GroupContext },
): ReceiverSettings | undefined {
  const [url, token] = [addressIn(raw, path, place), tokenIn(raw, path, place)]
  if (raw.url === undefined && raw.urlFile === undefined && raw[other] === undefined) {
    place.findings.problem(path, `${dotted(path)} needs url or ${other}`)
    return undefined
  }
  const found = { ...(url && { url }), ...(token && { token }) }
  requireSafe(found, path, place)
  return found
}

export const lineage = z
  .strictObject({
    ...receiver('Address that receives OpenLineage events of runs, such as http://HOST/api/v1/lineage.'),
    file: z
      .string()
      .min(1, 'must name a file')
      .optional()
      .describe('Events are appended to this file, one on each line.'),
    namespace: z.string().min(1).default('muster').describe('Namespace of the jobs.'),
    seconds: integer(1, 300).default(5).describe('Seconds that posting an event may take.'),
  })
  .describe('Where OpenLineage events of runs go.')

export interface LineageSettings extends ReceiverSettings {
  /** Absolute. */
  readonly file?: string
  readonly namespace: string
  readonly seconds: number
}

function buildLineage(
  raw: z.infer<typeof lineage>,
  path: SettingsPath,
  place: GroupContext,
): LineageSettings | undefined {
  const why = raw.file === undefined ? undefined : whyNotLocal(raw.file)
  if (why !== undefined) place.findings.problem([...path, 'file'], `${dotted([...path, 'file'])}: ${why}`)
  const posted = receiverIn(raw, 'file', { path, place })
  const { file, namespace, seconds } = raw
  const found = file === undefined ? {} : { file: resolve(place.cwd, file) }
  return posted && { ...posted, ...found, namespace, seconds }
}

export const notify = z
  .strictObject({
    ...receiver('Address that receives a JSON message when a DAG fails, is partial, or recovers.'),
    command: z
      .string()
      .min(1, 'must be a command')
      .optional()
      .describe('A command for the shell; it gets the message on stdin and in MUSTER_MESSAGE.'),
    seconds: integer(1, 300).default(10).describe('Seconds that each may take.'),
  })
  .describe('Whom to notify when a DAG fails, is partial, or recovers.')

interface NotifySettings extends ReceiverSettings {
  readonly command?: string
  readonly seconds: number
}

function buildNotify(
  raw: z.infer<typeof notify>,
  path: SettingsPath,
  place: GroupContext,
): NotifySettings | undefined {
  const posted = receiverIn(raw, 'command', { path, place })
  const { command, seconds } = raw
  return posted && { ...posted, ...(command !== undefined && { command }), seconds }
}

export interface NotificationSettings {
  /** Whom to notify when a DAG's status changes. */
  readonly notify?: NotifySettings
  /** Where OpenLineage events of runs go. */
  readonly lineage?: LineageSettings
}

interface RawNotification {
  readonly notify?: z.infer<typeof notify> | undefined
  readonly lineage?: z.infer<typeof lineage> | undefined
}

export function buildNotifications(
  raw: RawNotification,
  path: SettingsPath,
  place: GroupContext,
): NotificationSettings {
  const notifySettings = raw.notify && buildNotify(raw.notify, [...path, 'notify'], place)
  const runs = raw.lineage && buildLineage(raw.lineage, [...path, 'lineage'], place)
  return { ...(notifySettings && { notify: notifySettings }), ...(runs && { lineage: runs }) }
}
