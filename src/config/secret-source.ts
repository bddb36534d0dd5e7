/** Reads secrets: from the environment or a file of their own, never from the settings file. */
import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
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
  if (!source.isFromEnvironment(path)) {
    const advice = `write \${VARIABLE} or set ${dotted(filePath)} instead`
    findings.problem(path, `${dotted(path)} holds the secret itself: ${advice}`)
    return undefined
  }
  // An empty text comes from a variable that is not set, which is reported already.
  return text === '' ? undefined : new Secret(text.trim())
}

/** The bit of a file mode that lets every other user read. */
const othersRead = 0o004

function fromFile(place: SecretPlace, path: Path, name: string): Secret | undefined {
  const file = resolve(place.cwd, name)
  try {
    const text = readFileSync(file, 'utf8').trim()
    if (text === '') place.findings.problem(path, `${dotted(path)} names ${name}, which is empty`)
    if ((statSync(file).mode & othersRead) !== 0) {
      place.findings.warning(path, `${name} can be read by every user of this machine: chmod 600 ${name}`)
    }
    return text === '' ? undefined : new Secret(text)
  } catch {
    // Missing, or not for this user to read: a problem of the settings, reported with the others.
    place.findings.problem(path, `${dotted(path)} names ${name}, which cannot be read`)
    return undefined
  }
}
