/** Reads the built front end and writes the page that carries it. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { MusterError } from '../lib/errors.ts'
import { packageFile } from '../lib/package.ts'

const built = (name: string): string => {
  const file = packageFile(`dist/dashboard/${name}`)
  if (existsSync(file)) return readFileSync(file, 'utf8')
  throw new MusterError({ what: 'the dashboard was not built', where: file, next: 'run npm run build' })
}

export interface WebFiles {
  readonly script: string
  readonly style: string
}

export const readWebFiles = (): WebFiles => ({ script: built('main.js'), style: built('style.css') })

export const hashOf = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`

interface Shell {
  /** Elements of the head: the style, and what the page needs besides. */
  readonly head: string
  /** Elements at the end of the body. */
  readonly end: string
}

export const shell = ({ head, end }: Shell): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>Muster</title>
<link rel="icon" href="data:,">
${head}
</head>
<body>
<a class="skip" href="#content">To the content</a>
<div id="app"></div>
<noscript><p class="notice">The dashboard draws its charts with a script of its own. Allow scripts, or read the marts with muster sql.</p></noscript>
${end}
</body>
</html>
`
