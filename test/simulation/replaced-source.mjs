/** A hook of Node's module loader: loads some modules of `src` with a piece of their text replaced. */

/** What to replace, by the end of the file's path. */
let replacements = []

export async function initialize(given) {
  replacements = given
}

/** Space and quotes are others once the types are stripped. */
const patternOf = text =>
  new RegExp(
    text
      .trim()
      .split(/\s+/)
      .map(word => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(/['"`]/g, '[\'"`]'))
      .join('\\s*'),
    'g',
  )

export async function load(url, context, next) {
  const loaded = await next(url, context)
  const wanted = replacements.filter(({ file }) => url.split('?')[0].endsWith(file))
  if (wanted.length === 0) return loaded
  let source = String(loaded.source)
  for (const { file, find, put } of wanted) {
    const found = source.match(patternOf(find))?.length ?? 0
    if (found !== 1) throw new Error(`${file} holds "${find}" ${found} times instead of once`)
    source = source.replace(patternOf(find), () => put)
  }
  return { ...loaded, source }
}
