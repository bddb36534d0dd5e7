/** `muster files upload FILE`: declares a file, uploads it to the address that the service gives, and prints the token. */
import { basename, resolve } from 'node:path'
import { createUpload, type UploadDeclaration, uploadFile } from '../../api/uploads.ts'
import { openAdHocClient } from '../../app/connection/ad-hoc-client.ts'
import { readDeclarable } from '../../app/workers/local-files.ts'
import { chosenAgency, requireAgencyKey, requireScope } from '../../app/workers/writing-key.ts'
import { isSafeId } from '../../contract/fields/record-id.ts'
import { UsageError } from '../../lib/errors.ts'
import { isFileName } from '../../lib/file-kind.ts'
import { choiceOf } from '../../lib/text/nearest.ts'
import { type CommandModule, type Options, textOption } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { printJson } from '../terminal/output.ts'

const purposes = { worker: ['attachments', 'rightToWork'], invoice: ['payment'] } as const

export const command: CommandModule = {
  arguments: [{ name: '<file>', summary: 'the file to upload, at most 20 MB' }],
  options: [
    { flags: '--resource <name>', summary: 'worker or invoice' },
    { flags: '--record <id>', summary: 'id or short id of the record' },
    { flags: '--purpose <name>', summary: 'attachments or rightToWork for a worker, payment for an invoice' },
    { flags: '--agency <id>', summary: 'agency of the worker; needed when the key spans several' },
    { flags: '--company <id>', summary: 'only for records of this company' },
  ],
  examples: [
    'muster files upload card.pdf --resource worker --record 65f0c2a1b3d4e5f60718293a --purpose attachments',
    'muster files upload receipt.png --resource invoice --record 65f0c2a1b3d4e5f60718293a --purpose payment',
  ],
  run: async (context, [shown = ''], options) => {
    const { bytes, declaration } = readDeclaration(context, shown, options)
    const connection = context.connection()
    const { client, close } = await openAdHocClient(connection, context)
    try {
      const key = await client.getMe()
      if (declaration.resource === 'worker') requireAgencyKey(key)
      requireScope(key, `write:${declaration.resource}s`)
      const agency =
        key.kind === 'agency'
          ? chosenAgency(key, textOption(options, 'agency'))
          : textOption(options, 'agency')
      const upload = await createUpload(client, declaration, {
        agency,
        company: textOption(options, 'company'),
      })
      context.hide(upload.uploadToken)
      context.hide(upload.uploadUrl)
      await uploadFile(upload, bytes, {
        clock: context.clock,
        rng: context.rng,
        signal: context.signal,
        source: connection,
      })
      const { fileName } = declaration
      if (context.json)
        printJson(context, { fileName, uploadToken: upload.uploadToken, expiresIn: upload.expiresIn })
      else context.stdout.write(`${upload.uploadToken}\n`)
      const minutes = Math.floor(upload.expiresIn / 60)
      context.notice(
        `uploaded, not attached yet: pass the token to the update of the record within ${minutes} minutes`,
      )
      return 0
    } finally {
      await close()
    }
  },
}

interface DeclaredFile {
  readonly bytes: Buffer
  readonly declaration: UploadDeclaration
}

/** Checks everything that can be checked without a request. Throws UsageError. */
function readDeclaration(context: CommandContext, shown: string, options: Options): DeclaredFile {
  const resource = oneOf(options, 'resource', ['worker', 'invoice'] as const)
  const purpose = oneOf(options, 'purpose', purposes[resource])
  const recordId = textOption(options, 'record') ?? ''
  if (!isSafeId(recordId)) {
    throw new UsageError({
      what: `--record ${recordId ? 'is not an id' : 'is missing'}`,
      next: 'give the id of the record',
    })
  }
  const fileName = basename(shown)
  if (!isFileName(fileName)) {
    throw new UsageError({
      what: `${shown} has a name that the service does not accept`,
      next: 'use 1 to 255 characters with an extension',
    })
  }
  const read = readDeclarable(resolve(context.cwd, shown))
  if (typeof read === 'string')
    throw new UsageError({ what: `${shown} ${read}`, next: 'give a PDF, JPEG or PNG of 1 byte to 20 MB' })
  const { bytes, type: contentType } = read
  return { bytes, declaration: { resource, recordId, purpose, fileName, contentType, size: bytes.length } }
}

function oneOf<Value extends string>(options: Options, name: string, values: readonly Value[]): Value {
  const given = textOption(options, name)
  const found = values.find(value => value === given)
  if (found !== undefined) return found
  const next = given === undefined ? `give ${values.join(' or ')}` : choiceOf(given, values)
  throw new UsageError({
    what: given === undefined ? `--${name} is missing` : `--${name} ${given} is not known`,
    next,
  })
}
