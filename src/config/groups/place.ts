/** What building a group of settings needs, and an address that may be secret, as those of chat services are. */
import { Secret } from '../secret.ts'
import { type Findings, readSecret } from '../secret-source.ts'
import { dotted, type Path, type Source } from '../source.ts'
import { isHttp } from './values.ts'

export interface GroupPlace {
  readonly source: Source
  readonly cwd: string
  readonly findings: Findings
}

/** Its setting is `url` or `urlFile`; undefined without either. It is kept secret in any case. */
export function addressIn(
  raw: { readonly url?: string | undefined; readonly urlFile?: string | undefined },
  path: Path,
  place: GroupPlace,
): Secret | undefined {
  const at = { ...place, path: [...path, 'url'], filePath: [...path, 'urlFile'] }
  if (raw.urlFile === undefined) return raw.url === undefined ? undefined : new Secret(raw.url)
  const address = readSecret(at, raw.url, raw.urlFile)
  if (!address || isHttp(address.reveal())) return address
  place.findings.problem(at.filePath, `${dotted(at.filePath)} names a file without an address`)
  return undefined
}
