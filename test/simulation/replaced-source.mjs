/** Replaces pieces of text in modules of `src` while Node loads them: a hook of its module loader. */

/** Each names the file by the end of its path. */
let replacements = []

export async function initialize(data) {
  replacements = data
}

/** Ignores white space and the kind of quotes, which change when the types are stripped. */
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
  const matching = replacements.filter(({ file }) => url.split('?')[0].endsWith(file))
  if (matching.length === 0) return loaded
  let source = String(loaded.source)
  for (const { file, find, put } of matching) {
    const found = source.match(patternOf(find))?.length ?? 0
    if (found !== 1) throw new Error(`${file} holds "${find}" ${found} times instead of once`)
    source = source.replace(patternOf(find), () => put)
  }
  return { ...loaded, source }
}
