/** What is installed, what is bundled and what is said about it: the lock, the notices and the bill of materials agree. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { allowedLicences, notices, packagesOf } from '../../notices.ts'
import { readWebFiles } from '../../src/dashboard/web-files.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly link?: boolean
  readonly engines?: { readonly node?: string }
}

const locked = Object.entries<Locked>(JSON.parse(read('package-lock.json')).packages).filter(
  ([path, { link }]) => path !== '' && link !== true,
)

describe('the lock', () => {
  test('has a SHA-512 of every package, also of those for other machines', () => {
    expect(locked.length).toBeGreaterThan(500)
    const unknown = locked.filter(([, { integrity = '' }]) => !/^sha512-[\w+/]{86}==$/.test(integrity))
    expect(unknown.map(([path]) => path)).toEqual([])
  })

  test('names no registry, so that everybody asks their own for the same bytes', () => {
    expect(locked.filter(([, { resolved }]) => resolved !== undefined)).toEqual([])
    expect(read('package-lock.json')).not.toMatch(/https?:\/\/[^"]*registry/)
  })

  test('holds nothing that the oldest supported Node warns of', () => {
    const oldest = 20
    const tooNew = locked.filter(([, { engines }]) => {
      const ranges = (engines?.node ?? '*').split('||').map(range => /^\s*(>=|\^|~)?\s*v?(\d+)/.exec(range))
      return !ranges.some(
        range =>
          range === null || Number(range[2]) === oldest || (range[1] === '>=' && Number(range[2]) <= oldest),
      )
    })
    expect(tooNew.map(([path]) => path)).toEqual([])
  })
})

interface Paper {
  readonly name: string
  readonly version: string
  readonly license: string
}

const paperOf = (folder: string): Paper => JSON.parse(read(join(folder, 'package.json')))

/** What a notice of each licence says, beyond its name. */
const words: Readonly<Record<string, RegExp>> = {
  'Apache-2.0': /TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION/,
  'BSD-3-Clause': /Redistributions in binary form must reproduce the above\s+copyright/,
  ISC: /Permission to use, copy, modify, and(\/or)? distribute this software/,
  MIT: /Permission is hereby granted, free of charge, to\s+any\s+person\s/,
  'MIT-0': /Permission is hereby granted, free of charge, to\s+any\s+person\s/,
}

/** Packages whose name, version, licence and text are not in `text` together. */
const unnoticed = (text: string, folders: readonly string[]): string[] => {
  const parts = text.split('\n\n\n')
  return folders.filter(folder => {
    const { name, version, license } = paperOf(folder)
    const title = `${name} ${version}: ${license}`
    return !parts.some(part => `\n${part}`.includes(`\n${title}\n`) && words[license]?.test(part))
  })
}

describe('notices', () => {
  test('name every package of the bundle, with the text of a licence that is allowed', () => {
    const { reads } = JSON.parse(read('dist/.built-from.json')) as { reads: string[] }
    const folders = packagesOf(reads)
    expect(folders.length).toBeGreaterThan(150)
    expect(Object.keys(words)).toEqual(allowedLicences)
    expect(folders.filter(folder => !allowedLicences.includes(paperOf(folder).license))).toEqual([])
    expect(unnoticed(read('dist/THIRD-PARTY-LICENSES'), folders)).toEqual([])
    expect(unnoticed(read('dist/THIRD-PARTY-LICENSES').replace('zod 4.', 'zod 3.'), folders)).toEqual([
      'node_modules/zod',
    ])
  })

  test('are within the front end, and so within each report that carries it', async () => {
    const { metafile } = await build({
      entryPoints: [join(root, 'src/dashboard/web/main.ts')],
      absWorkingDir: root,
      bundle: true,
      write: false,
      outdir: 'unused',
      metafile: true,
    })
    const folders = packagesOf(Object.keys(metafile.inputs))
    expect(folders).toContain('node_modules/@observablehq/plot')
    expect(folders.filter(folder => folder.includes('/d3-')).length).toBeGreaterThan(20)
    expect(unnoticed(readWebFiles().script.replace(/^\/\*!\n|\n\*\/\n/g, '\n\n\n'), folders)).toEqual([])
  })

  const packageWith = (manifest: object, files: Readonly<Record<string, string>>): string => {
    const folder = mkdtempSync(join(tmpdir(), 'notices-'))
    mkdirSync(folder, { recursive: true })
    writeFileSync(
      join(folder, 'package.json'),
      JSON.stringify({ name: 'one', version: '1.2.3', ...manifest }),
    )
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    return folder
  }

  test.each([
    ['its licence file', { license: 'ISC' }, { LICENSE: 'Do as you like.\n' }, 'Do as you like.'],
    ['also its NOTICE', { license: 'ISC' }, { 'LICENSE.md': 'A', NOTICE: 'B' }, 'A\n\nB'],
    [
      'the section of its readme',
      { license: 'MIT' },
      { 'README.md': '# One\n\n## License\n\nOne Holder. Permission is hereby granted\n' },
      'One Holder. Permission is hereby granted',
    ],
    [
      'the common text with its author, where it has none',
      { license: 'MIT', author: 'One Holder' },
      { 'README.md': '## License\n\nMIT\n' },
      expect.stringMatching(/Copyright \(c\) One Holder\n\nPermission is hereby granted/),
    ],
  ] as const)('of a package are %s', (...[, manifest, files, text]) => {
    const [title, , ...rest] = notices([packageWith(manifest, files)]).split('\n')
    expect(title).toBe(`one 1.2.3: ${manifest.license}`)
    expect(rest.join('\n')).toEqual(text)
  })

  test.each([
    [{ license: 'GPL-3.0-only' }, { LICENSE: 'text' }, /one 1\.2\.3: GPL-3\.0-only is not among the allowed/],
    [{}, { LICENSE: 'text' }, /is not among the allowed/],
    [{ license: 'ISC' }, {}, /comes without the text of its licence/],
  ])('end the build for %j', (manifest, files, why) => {
    expect(() => notices([packageWith(manifest, files)])).toThrow(why)
  })
})

test('the bill of materials of a release lists every locked package with its hash', () => {
  const [command = ''] = /npm sbom .*?(?= >)/.exec(read('.github/workflows/release.yml')) ?? []
  expect(command).toContain('--package-lock-only')
  const [program = '', ...args] = command.split(' ')
  const bill = JSON.parse(
    execFileSync(program, args, {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 64 * 1_048_576,
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  )
  expect(bill.bomFormat).toBe('CycloneDX')
  interface Component {
    readonly purl: string
    readonly hashes?: readonly { readonly alg: string }[]
  }
  const components: readonly Component[] = bill.components
  expect(components.filter(({ hashes }) => hashes?.[0]?.alg !== 'SHA-512')).toEqual([])
  const purls = new Set(components.map(({ purl }) => decodeURIComponent(purl)))
  const missing = locked.filter(
    ([path, { version }]) => !purls.has(`pkg:npm/${path.replace(/^.*node_modules\//, '')}@${version}`),
  )
  expect(missing.map(([path]) => path)).toEqual([])
})
