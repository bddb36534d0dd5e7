/** The settings of `notify`: whom to tell how a night ended. */
import * as z from 'zod'
import type { Path } from '../source.ts'
import { type GroupPlace, type Receiver, receiver, receiverIn } from './place.ts'
import { whole } from './values.ts'

export const notify = z
  .strictObject({
    ...receiver('A JSON message is posted here when a night failed or is well again.'),
    command: z
      .string()
      .min(1, 'must be a command')
      .optional()
      .describe('A command for the shell; it gets the message on stdin and in MUSTER_MESSAGE.'),
    seconds: whole(1, 300).default(10).describe('How long each may take.'),
  })
  .describe('Whom to tell when a night failed, was partial, or is well again.')

export interface NotifySettings extends Receiver {
  readonly command?: string
  readonly seconds: number
}

export function buildNotify(
  raw: z.infer<typeof notify>,
  path: Path,
  place: GroupPlace,
): NotifySettings | undefined {
  const posted = receiverIn(raw, 'command', { path, place })
  const { command, seconds } = raw
  return posted && { ...posted, ...(command !== undefined && { command }), seconds }
}
