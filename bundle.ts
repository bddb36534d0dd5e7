/** Bundles the program into `dist`, so that it opens a few files to start instead of a thousand. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { recordBuild, sourcesNow } from './built-from.ts'
import { notices, packagesOf } from './notices.ts'
import { makeEmpty } from './src/state/migrate.ts'
import { openDuckdb } from './src/warehouse/duckdb/open.ts'

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: Record<string, string> }

/**
 * DuckDB's library, which remains a dependency of the package, stays outside, and so does the part of pg that it loads only for
 * who asks for it. Node takes a quarter of a second of the processor to load the 130 files around that library one by one.
 */
const outside = [...Object.keys(manifest.dependencies), 'pg-native', 'pg-cloudflare']

/** Packages written for CommonJS call `require` for modules of Node; a module has none. */
const banner = `import { createRequire as requireFrom } from 'node:module'
const require = requireFrom(import.meta.url)`

const from = sourcesNow('.')
rmSync('dist', { recursive: true, force: true })
const { metafile } = await build({
  entryPoints: { main: 'src/main.ts', 'ad-hoc-process': 'src/warehouse/duckdb/ad-hoc/process.ts' },
  outdir: 'dist',
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  external: outside,
  minifySyntax: true,
  minifyWhitespace: true,
  // Names stay, as `unexpected TypeError` and tests of classes by name show them.
  keepNames: true,
  sourcemap: 'external',
  banner: { js: banner },
  metafile: true,
  logLevel: 'warning',
})
const { metafile: web } = await build({
  entryPoints: {
    'dashboard/main': 'src/dashboard/web/main.ts',
    'dashboard/style': 'assets/dashboard/main.css',
  },
  outdir: 'dist',
  bundle: true,
  format: 'iife',
  platform: 'browser',
  target: 'es2022',
  minify: true,
  metafile: true,
  logLevel: 'warning',
})
const inputs = Object.keys({ ...metafile.inputs, ...web.inputs })
writeFileSync('dist/THIRD-PARTY-LICENSES', notices(packagesOf(inputs)))
signFrontEnd()

mkdirSync('man', { recursive: true })
writeFileSync('man/muster.1', execFileSync(process.execPath, ['dist/main.js', 'man']))

await buildEmptyWarehouse()

recordBuild('.', { from, reads: inputs.filter(path => path.includes('node_modules/')) })

/** A new warehouse file begins as a copy of it. Any user may read it, as anybody may run the program. */
async function buildEmptyWarehouse(): Promise<void> {
  const draft = 'dist/empty.duckdb'
  const engine = await openDuckdb(draft)
  const name = await makeEmpty(engine).finally(() => engine.close())
  chmodSync(draft, 0o644)
  renameSync(draft, join('dist', name))
}

/** The front end leaves the package, in `report.html` and to browsers: its notices are in it. */
function signFrontEnd(): void {
  const script = 'dist/dashboard/main.js'
  const text = notices(packagesOf(Object.keys(web.inputs))).replaceAll('*/', '* /')
  writeFileSync(script, `/*!\n${text}\n*/\n${readFileSync(script, 'utf8')}`)
}
