/** The settings file that `muster init` writes: the template, with a name, an address, a key and a warehouse filled in. */
import { readFileSync } from 'node:fs'
import { packageFile } from '../../lib/package.ts'

export interface FirstConnection {
  readonly name: string
  readonly baseUrl: string
  /** A file with the key; without one the key comes from the variable that `keyVariable` names. */
  readonly keyFile?: string
  readonly warehouse: string
}

export const keyVariable = (name: string): string =>
  `${name.toUpperCase().replace(/[^A-Z0-9]/g, '_')}_API_KEY`

export const duckdbOf = (name: string): string => `duckdb:data/${name}.duckdb`

export const template = (): string => readFileSync(packageFile('config/muster.example.yaml'), 'utf8')

/** JSON is YAML: a text with whatever characters stays one text. */
const quoted = (text: string): string => (/^[\w./:@${}-]+$/.test(text) ? text : JSON.stringify(text))

/** The name of the template's connection is in the names of its files and variables too. */
export function filledTemplate({ name, baseUrl, keyFile, warehouse }: FirstConnection): string {
  const keyLine =
    keyFile === undefined ? `apiKey: \${${keyVariable(name)}}` : `apiKeyFile: ${quoted(keyFile)}`
  return template()
    .replaceAll('ACME_', () => keyVariable(name).replace(/API_KEY$/, ''))
    .replaceAll('acme', () => name)
    .replace('baseUrl: https://api.example.com/api/open/v1', () => `baseUrl: ${quoted(baseUrl)}`)
    .replace(/apiKey: \$\{\w+\}\n.*apiKeyFile: .*\n/, () => `${keyLine}\n`)
    .replace(`warehouse: ${duckdbOf(name)}`, () => `warehouse: ${quoted(warehouse)}`)
}
