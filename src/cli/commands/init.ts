/** `muster init`: writes a commented settings file to fill in. */
import { lstatSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { defaultConfigFile } from '../../config/settings.ts'
import { MusterError, UsageError } from '../../lib/errors.ts'
import { packageFile } from '../../lib/package.ts'
import { writeOutput } from '../../temporary/output-file.ts'
import { type CommandModule, flagOption } from '../command.ts'
import { printJson, printLine } from '../terminal/output.ts'

const template = packageFile('config/muster.example.yaml')

const nextSteps = [
  'set ACME_API_KEY to your key (or try `muster sandbox`, which needs none)',
  'correct baseUrl, and warehouse if you want PostgreSQL',
  'run `muster doctor` to check everything, then `muster sync`',
]

export const command: CommandModule = {
  options: [{ flags: '--force', summary: 'replace an existing file' }],
  examples: ['muster init', 'muster init --config /etc/muster/acme.yaml'],
  run: async (context, _, options) => {
    const file = context.globals.config ?? defaultConfigFile
    write(resolve(context.cwd, file), file, flagOption(options, 'force'))
    if (context.json) {
      printJson(context, { written: file, next: nextSteps })
    } else {
      const steps = nextSteps.map((step, index) => `  ${index + 1}. ${step}`)
      printLine(context, [`Wrote ${file}. Now:`, ...steps].join('\n'))
    }
    return 0
  },
}

function write(path: string, shown: string, isForced: boolean): void {
  try {
    mkdirSync(dirname(path), { recursive: true })
  } catch (error) {
    throw cannotWrite(shown, error)
  }
  if (!isForced && lstatSync(path, { throwIfNoEntry: false }))
    throw new UsageError({ what: `${shown} exists already`, next: 'add --force to replace it' })
  writeOutput(path, readFileSync(template, 'utf8'), { guarded: [], isForced, isOurs: () => false })
}

function cannotWrite(shown: string, cause: unknown): MusterError {
  return new MusterError({
    what: `${shown} cannot be written`,
    next: 'check its folder and permissions',
    cause,
  })
}
