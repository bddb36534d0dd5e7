/** Reads secrets: from the environment or a file of their own, never from the settings file. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { readInputText } from '../lib/input-file.ts'
import { Secret } from './secret.ts'
import { dotted, type Path, type Source } from './source.ts'

/** Findings while connections are built; problems stop the load, warnings do not. */
export interface Findings {
  problem(path: Path, text: string): void
  warning(path: Path, text: string): void
}

export interface SecretPlace {
  readonly source: Source
  readonly cwd: string
  readonly findings: Findings
  /** Paths of the setting that may contain the secret, and of the one that may name a file with it. */
  readonly path: Path
  readonly filePath: Path
}

/** `text` is the setting itself, `file` the setting beside it. */
export function readSecret(place: SecretPlace, text?: string, file?: string): Secret | undefined {
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

/** Bytes of a file with a key or a password. */
const largestSecret = 65_536

/** The bit of a file mode that lets every other user read. */
const othersRead = 0o004

function fromFile(place: SecretPlace, path: Path, name: string): Secret | undefined {
  const file = resolve(place.cwd, name)
  const read = readInputText(file, { mostBytes: largestSecret })
  if (typeof read !== 'string') {
    place.findings.problem(path, `${dotted(path)} names ${name}, which ${read.why}`)
    return undefined
  }
  const text = read.trim()
  if (text === '') place.findings.problem(path, `${dotted(path)} names ${name}, which is empty`)
  if (((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & othersRead) !== 0) {
    place.findings.warning(path, `${name} can be read by every user of this machine: chmod 600 ${name}`)
  }
  return text === '' ? undefined : new Secret(text)
}
