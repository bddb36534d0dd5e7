/** Declares the settings of the webhook and of ad hoc queries. */
import * as z from 'zod'
import { integer } from './values.ts'

export const webhook = z
  .strictObject({
    secret: z
      .string()
      .meta({ pattern: '^file:' })
      .optional()
      .describe('The secret that the application shows where you create the webhook.'),
    secretFile: z.string().optional().describe('A file with the secret.'),
    previousSecret: z
      .string()
      .meta({ pattern: '^file:' })
      .optional()
      .describe('Accepted too, while you change to a new secret.'),
    previousSecretFile: z.string().optional().describe('A file with the previous secret.'),
    headerPrefix: z
      .string()
      .regex(/^[A-Za-z0-9-]+$/, 'must be the beginning of a header name, as in X-Service')
      .default('X-Service')
      .describe("The beginning of the service's header names."),
  })
  .describe('For `muster serve`, which receives webhooks.')

/** Limits of one query of `muster sql` or an assistant; memory is that of its process, half of it for DuckDB's buffers. */
export const queries = z
  .strictObject({
    seconds: integer(1, 3600).default(120).describe('Seconds that it may run.'),
    memoryMegabytes: integer(256)
      .default(1024)
      .describe('Memory of the process that runs DuckDB; on PostgreSQL a sixteenth of it is work_mem.'),
    answerMegabytes: integer(1, 128)
      .default(16)
      .describe('Maximum megabytes of an answer; a larger one is cut.'),
    threads: integer(1, 256).default(2).describe('Threads of DuckDB.'),
  })
  .describe('Limits of one query of `muster sql` or `muster mcp`.')

/** Days to keep processed events, and the maximum of stored events, in number and in megabytes. */
export interface InboxSettings {
  readonly inboxDays: number
  readonly inboxEvents: number
  readonly inboxMegabytes: number
}

export const inboxOf = ({ inboxDays, inboxEvents, inboxMegabytes }: InboxSettings): InboxSettings => ({
  inboxDays,
  inboxEvents,
  inboxMegabytes,
})
