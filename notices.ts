/** The licences of the packages in a bundle: name, version, licence and its text, as each of them asks for. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Others may ask for more than a notice, so the build ends on them. */
export const allowedLicences: readonly string[] = ['Apache-2.0', 'BSD-3-Clause', 'ISC', 'MIT', 'MIT-0']

/** The folders of the packages that these files of a bundle are from. */
export const packagesOf = (files: readonly string[]): readonly string[] =>
  [...new Set(files.flatMap(file => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []))].sort()

/** Licence and NOTICE files of a package, or the section of its readme that has the licence. */
function textIn(folder: string): string {
  const read = (file: string): string =>
    readFileSync(join(folder, file), 'utf8')
      .replaceAll('\r\n', '\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim()
  const files = readdirSync(folder).sort()
  const papers = files.filter(name => /^(licen[cs]e|copying|notice)\b/i.test(name)).map(read)
  if (papers.length > 0) return papers.join('\n\n')
  const readme = files.filter(name => /^readme\b/i.test(name)).map(read)
  const [section = ''] = /^#+ *licen[cs]e *$[\s\S]*/im.exec(readme.join('\n')) ?? []
  return section.includes('Permission is hereby granted') ? section.replace(/^.*\n+/, '').trim() : ''
}

/** Texts without the name of a copyright holder, for packages that name the licence and forgot its text. */
const commonTexts: Readonly<Record<string, string>> = {
  'Apache-2.0': 'node_modules/@aws-sdk/client-s3',
  MIT: 'node_modules/fastify',
}

function commonText(licence: string, author: string): string {
  const common = commonTexts[licence]
  if (common === undefined) return ''
  // The MIT licence begins with its holder, the Apache licence names none.
  return textIn(common).replace(/^Copyright \(c\).*/im, () => `Copyright (c) ${author}`)
}

function noticeOf(folder: string): { readonly title: string; readonly text: string } {
  const { name, version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const title = `${name} ${version}: ${license}`
  if (!allowedLicences.includes(license)) throw new Error(`${title} is not among the allowed licences`)
  const text = textIn(folder) || commonText(license, author?.name ?? author ?? `the authors of ${name}`)
  if (text === '') throw new Error(`${title} comes without the text of its licence`)
  return { title, text }
}

/** A text that several packages share is there once, below all of their names. */
export function notices(folders: readonly string[]): string {
  const titles = new Map<string, string[]>()
  for (const { title, text } of folders.map(noticeOf)) titles.set(text, [...(titles.get(text) ?? []), title])
  return [...titles].map(([text, names]) => `${names.join('\n')}\n\n${text}`).join('\n\n\n')
}
