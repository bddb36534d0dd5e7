/** Reads secrets from the environment or from a file of their own, never from the settings file; never shows them. */

import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { inspect } from 'node:util'
import { readInputText } from '../lib/input-file.ts'
import { dotted, type SettingsPath, type SettingsSource } from './source.ts'

const shown = '[secret]'

/** Printing, logging or serialising it gives `[secret]`. */
export class Secret {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** The text itself. Pass it on at once and never keep it. */
  reveal(): string {
    return this.#text
  }

  toString(): string {
    return shown
  }

  toJSON(): string {
    return shown
  }

  [inspect.custom](): string {
    return shown
  }
}

/** Findings while connections are built; problems stop the load, warnings do not. */
export interface SettingsFindings {
  problem(path: SettingsPath, text: string): void
  warning(path: SettingsPath, text: string): void
  /** A warning for `muster doctor` alone. */
  remark(path: SettingsPath, text: string): void
}

interface SecretContext {
  readonly source: SettingsSource
  readonly cwd: string
  readonly findings: SettingsFindings
  /** Paths of the setting that may contain the secret, and of the one that may name a file with it. */
  readonly path: SettingsPath
  readonly filePath: SettingsPath
}

/** `text` is the value of the setting, `file` that of its `File` setting. */
export function readSecret(place: SecretContext, text?: string, file?: string): Secret | undefined {
  const { path, filePath, findings, source } = place
  if (text !== undefined && file !== undefined) {
    findings.problem(filePath, `${dotted(path)} and ${dotted(filePath)} are both set: keep one`)
    return undefined
  }
  if (file !== undefined) return fromFile(place, filePath, file)
  if (text === undefined) {
    findings.problem(path, `${dotted(path)} is missing`)
    return undefined
  }
  if (text.startsWith('file:')) return fromFile(place, path, text.slice('file:'.length))
  if (source.variablesOf(path).length === 0) {
    const advice = `write \${VARIABLE} or set ${dotted(filePath)} instead`
    findings.problem(path, `${dotted(path)} holds the secret itself: ${advice}`)
    return undefined
  }
  // An empty text comes from a variable that is not set, which is reported already.
  return text === '' ? undefined : new Secret(text.trim())
}

/** Maximum bytes of a file with a key or a password. */
const largestSecret = 65_536

/** Bits of a file mode. */
const othersRead = 0o004
const others = 0o007
const groupAndOthers = 0o077

/**
 * Warns about a secret file that others than its owner can read or change. Group access may be intended, as Kubernetes mounts
 * files that way: only doctor reports it.
 */
export function reviewMode(
  { cwd, findings }: Pick<SecretContext, 'cwd' | 'findings'>,
  path: SettingsPath,
  name: string,
): void {
  const mode = statSync(resolve(cwd, name), { throwIfNoEntry: false })?.mode ?? 0
  if ((mode & groupAndOthers) === 0) return
  const octal = (mode & 0o7777).toString(8).padStart(4, '0')
  const who = (mode & others) === 0 ? `its group (mode ${octal})` : 'every user of this machine'
  const may = (mode & 0o044) === 0 ? 'changed' : 'read'
  const text = `${name} can be ${may} by ${who}: chmod 600 ${name}`
  if ((mode & othersRead) === 0) findings.remark(path, text)
  else findings.warning(path, text)
}

function fromFile(place: SecretContext, path: SettingsPath, name: string): Secret | undefined {
  const file = resolve(place.cwd, name)
  const read = readInputText(file, { maxBytes: largestSecret })
  if (typeof read !== 'string') {
    place.findings.problem(path, `${dotted(path)} names ${name}, which ${read.why}`)
    return undefined
  }
  const text = read.trim()
  if (text === '') place.findings.problem(path, `${dotted(path)} names ${name}, which is empty`)
  reviewMode(place, path, name)
  return text === '' ? undefined : new Secret(text)
}
